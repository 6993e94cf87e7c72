"""Typos: a text beside the same with typing errors, in pieces and as its context fails the other words."""
