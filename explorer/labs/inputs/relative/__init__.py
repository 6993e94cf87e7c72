"""Relative positions: which row of DeBERTa's table stands for the way from one token to another."""
