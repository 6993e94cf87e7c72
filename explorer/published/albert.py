"""ALBERT's tables as they were published (Lan et al. 2020), quoted: plain data."""

from __future__ import annotations

TABLE_3 = (
    ("everything", ((64, 10, 79.0), (128, 12, 80.1), (256, 16, 79.6), (768, 31, 79.8))),
    ("nothing", ((64, 87, 81.3), (128, 89, 81.7), (256, 93, 81.8), (768, 108, 82.3))),
)
TABLE_4 = (("attention", ((128, 64, 81.7), (768, 83, 81.6))), ("ffn", ((128, 38, 80.2), (768, 57, 79.5))))
"""ALBERT-base: what its layers share; embedding size, millions of parameters, average score over five tasks."""
