"""The words that a first-time reader may not know, each with one sentence; pages explain them where they occur."""

from __future__ import annotations

import json
from dataclasses import asdict

from explorer.glossary_answers import ANSWER_WORDS
from explorer.glossary_entry import Entry as Entry
from explorer.glossary_models import MODEL_WORDS
from explorer.glossary_training import TRAINING_WORDS

ENTRIES = (*MODEL_WORDS, *ANSWER_WORDS, *TRAINING_WORDS)


def as_json() -> str:
    """Return the entries for a script on the page."""
    return json.dumps([asdict(entry) for entry in ENTRIES], ensure_ascii=False)
