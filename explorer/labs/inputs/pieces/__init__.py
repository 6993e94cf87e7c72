"""Pieces: one text by several tokenizers, beside each other."""
