"""Swap: the same blank in a sentence with one word changed."""
