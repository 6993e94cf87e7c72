"""Runs as files: zips to take home and adapters brought along. Nothing here imports torch by itself."""
