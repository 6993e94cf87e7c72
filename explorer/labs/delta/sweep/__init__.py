"""Rank sweep: the same task and seed at several ranks."""
