"""The proof by training: the next token with the answer in view, and without."""
