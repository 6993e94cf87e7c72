"""Ablation: what each term of the loss, and the start from the teacher's layers, are worth."""
