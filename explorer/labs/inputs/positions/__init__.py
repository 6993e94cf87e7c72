"""Positions: how alike the rows of the position table are."""
