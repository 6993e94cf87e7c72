"""The text that a pretraining run learns from: documents of paragraphs, of which some are held out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from explorer.errors import BadInputError
from explorer.scratch.spec import STORIES
from explorer.settings import BUNDLED_STORIES, Settings
from explorer.tasks.formats.text import HOLDS, SAVE
from explorer.tasks.places import uploads
from explorer.tasks.read_file import decode, short_name
from explorer.text import split_sentences

Document = tuple[str, ...]
"""The paragraphs of one document."""

STORIES_TITLE = "bundled stories"
HELD_OUT_EACH = 10
"""Every tenth document is held out."""
FEWEST_DOCUMENTS = 10
SENTENCES_A_DOCUMENT = 10
"""A text with too few empty lines is cut into documents of this many sentences."""
FEWEST_SENTENCES = 40


@dataclass(frozen=True)
class Documents:
    """A text in documents. title: the text's name. train, held_out: no document is in both."""

    title: str
    train: tuple[Document, ...]
    held_out: tuple[Document, ...]


@lru_cache(maxsize=4)
def read_documents(name: str, settings: Settings) -> Documents:
    """Read the bundled stories, or a visitor's text by the name of its upload.

    Raises BadInputError for a name that is neither, or a text that is too short to hold anything out.
    """
    if name == STORIES:
        files = sorted(BUNDLED_STORIES.glob("*.txt"))
        blocks = [block for path in files for block in _blocks(path.read_text(encoding="utf-8"))]
        return _parted(STORIES_TITLE, [tuple(block) for block in blocks])
    upload = uploads.find(name, settings)
    text = decode(upload.train, upload.title, SAVE, HOLDS)
    return own_documents(text, short_name(upload.title))


def own_documents(text: str, title: str) -> Documents:
    """Split a visitor's text into documents: its lines are joined, and an empty line ends a document.

    Raises BadInputError if it has fewer than FEWEST_SENTENCES sentences.
    """
    joined = [" ".join(block) for block in _blocks(text)]
    sentences = [sentence for block in joined for sentence in split_sentences(block)]
    if len(sentences) < FEWEST_SENTENCES:
        raise BadInputError(
            f"{title[:1].upper()}{title[1:]} has {len(sentences)} sentence{'s' if len(sentences) != 1 else ''}, and at least "
            f"{FEWEST_SENTENCES} are needed to learn from and to measure on. Take a longer one, or the bundled stories."
        )
    documents: list[Document] = [(block,) for block in joined]
    if len(documents) < FEWEST_DOCUMENTS:  # so few that none might be held out
        size = min(SENTENCES_A_DOCUMENT, len(sentences) // FEWEST_DOCUMENTS)
        documents = [(" ".join(sentences[at : at + size]),) for at in range(0, len(sentences), size)]
    return _parted(title, documents)


def _parted(title: str, documents: list[Document]) -> Documents:
    held = tuple(documents[HELD_OUT_EACH - 1 :: HELD_OUT_EACH])
    train = tuple(one for place, one in enumerate(documents) if place % HELD_OUT_EACH != HELD_OUT_EACH - 1)
    return Documents(title, train, held)


def _blocks(text: str) -> list[list[str]]:
    """Return groups of lines with no empty line between them."""
    blocks: list[list[str]] = [[]]
    for line in text.replace("\0", " ").splitlines():
        if line.strip():
            blocks[-1].append(" ".join(line.split()))
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]
