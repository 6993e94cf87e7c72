"""Worked examples of the inputs page."""

from __future__ import annotations

TEXTS = (
    ("A long word and an emoji", "unbelievable tokenization 😀"),
    ("Emoji", "I ❤️ my family 👩‍👩‍👧 and my cat 🐈"),
    ("Chinese", "我爱北京的春天。"),
    ("A German compound", "Die Donaudampfschifffahrtsgesellschaft fährt nach Österreich."),
    ("Numbers and code", "for i in range(3): x += 3.14159 * 1024  # 12,345"),
    ("Accents", "The naïve café owner sang a cliché in São Paulo."),
    ("Mixed case", "McDONALD's eBay iPhone IPHONE iphone"),
)
"""A name, and a text that one of the methods finds hard."""

TRY = ("Emoji", "Chinese", "A German compound", "Numbers and code")

WORDS = ("tokenization", "unbelievable", "naïve", "😀", "1024", "Donaudampfschiff", "antidisestablishmentarianism")

PAIRS = (
    ("One sentence", "The bank raised the interest rate.", ""),
    ("Two sentences", "The bank raised the rate.", "Nobody liked it."),
    ("One word, three times", "the dog saw the cat and the bird", ""),
    ("The same sentence twice", "It rained.", "It rained."),
)
"""A name and one or two sentences for the sum of the embeddings."""
