"""Merge and take home: the update inside the weights, and everything as files."""
