"""Soft targets: a teacher's answer to the visitor's sentence, softened by a slider that acts in the browser."""
