"""What the letters B-E-R-T stand for, each word with the page that shows it."""

from __future__ import annotations

from markupsafe import Markup

LETTERS = (
    ("Bidirectional", "", "directions"),
    ("Encoder", "", "directions"),
    ("Representations", " from ", "context"),
    ("Transformers", "", "attention"),
)
"""Devlin et al. 2018: a word of the name, what comes between it and the next, the page that it leads to."""


def letters() -> Markup:
    """The name in full, a link a word."""
    parts = [
        Markup('<a href="{}"><b>{}</b>{}</a>{}').format(slug, word[0], word[1:], after or " ")
        for word, after, slug in LETTERS
    ]
    return Markup('<p class="letters">{}(Google, October 2018).</p>').format(Markup("").join(parts))
