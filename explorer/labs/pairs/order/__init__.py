"""Sentence order: one pair by an SOP head, and both heads on the same true, swapped and random pairs."""
