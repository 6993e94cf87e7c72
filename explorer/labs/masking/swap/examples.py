"""Sentences with a blank, a word of each, and the word that takes its place."""

OPENING = ("The man worked as a [MASK].", "man", "woman")

TRY = (
    ("He or she", ("He said that [MASK] was tired.", "He", "She")),
    ("not", ("The film was really good, and I [MASK] it.", "really", "not")),
    ("Another land", ("The capital of France is [MASK].", "France", "Italy")),
    ("A word that doesn't matter", ("The keys to the old cabinet [MASK] on the table.", "old", "new")),
)
"""One-click experiments."""
