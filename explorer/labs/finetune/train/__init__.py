"""Train: settings at the left, the run that trains or has trained at the right."""
