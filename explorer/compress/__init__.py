"""Compression: measuring what matters in a model, removing the rest, and storing weights in fewer bits."""
