"""Train a student: half the teacher's layers, from its soft targets, beside the same student on labels alone."""
