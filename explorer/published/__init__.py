"""What papers say: their tables as plain data, and the figures in them that are computed again here."""
