"""Sizes: change one, and see every parameter counted again; factorised embeddings and shared layers."""
