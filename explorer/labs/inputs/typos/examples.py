"""Worked examples of the typos tab, and the sentences over which the losses are averaged."""

from __future__ import annotations

from typing import Any

TEXT = "The captain looked at the dark clouds over the harbour and decided to wait until the next morning."
SHARE, SEED = 0.5, 3
"""With which the tab opens."""

_TOWN = "The town was founded in 1846, when a railway was built through the valley to carry coal to the coast."


def _made(text: str = TEXT, share: float = SHARE, seed: int = SEED) -> dict[str, Any]:
    return {"text": text, "typed": "", "share": share, "seed": seed}


TRY: dict[str, dict[str, Any]] = {
    "One typo in all": _made(share=0.1),
    "Every long word": _made(share=1.0),
    "A town": _made(_TOWN),
    "By hand: a word that exists": {
        "text": "She put on her coat and went out into the rain without a hat.",
        "typed": "She put on her cost and went out into the ruin without a hat.",
    },
    "By hand: no spaces": {
        "text": "He opened the window and looked out at the sea.",
        "typed": "He openedthe window andlooked out at the sea.",
    },
}
"""One-click experiments: typos made by a seed, and some that were typed."""

SENTENCES = (
    TEXT,
    _TOWN,
    "She opened the letter from her brother and read it twice before she said anything to her mother.",
    "The band released its second album in the autumn and played concerts in several European countries.",
    "After the war he returned to his village, married a teacher and opened a small shop near the station.",
    "The river flows through the mountains to the south and reaches the sea close to the largest city.",
    "The film tells the story of a young woman who leaves her family to become a singer in Paris.",
    "Students of the university protested against the decision of the government to close the library.",
    "He scored two goals in the final match of the season and was named the best player of the team.",
    "The museum shows paintings by artists of the nineteenth century and a collection of old maps.",
    "The train to London leaves at seven in the morning and arrives shortly before noon.",
    "The church was built of red brick and has a high tower with four bells.",
)
"""Written for this page: in plain words, so that small models have something to say about them."""
