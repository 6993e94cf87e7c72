"""Runs as files: exports and imported adapters. Nothing here imports torch by itself."""
