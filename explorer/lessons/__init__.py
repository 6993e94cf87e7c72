"""Lessons: steps through the pages, each with a question that is guessed before the model answers; alone, or with a class."""
