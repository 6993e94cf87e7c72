"""A model trained from nothing, live."""
