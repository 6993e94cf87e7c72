"""What actions say to a visitor whose values make no sense together: a sentence that names the way out.

What a single value may be is swept over all parameters in test_parameters.
"""

from __future__ import annotations

from typing import Any

import pytest

import explorer
from explorer.errors import ExplorerError
from tests.rows import each_row

SENTENCE = "The cat sat on the mat."
BLANKS = "[MASK] [MASK]"
DISCRIMINATOR = "electra-mini-discriminator"

REFUSED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("score_sentences", {"sentences": ["It rains."] * 9}, "at most 8"),
    ("score_sentences", {"sentences": "The [MASK] sat."}, "Sentence 1 has a blank"),
    ("score_sentences", {"sentences": "It rains.\n" + "on and " * 50}, "Sentence 2 has 100 tokens"),
    ("score_sentences", {"sentences": "It rains.", "masking": "all"}, "masking must be one of rest_of_word, token"),
    (
        "score_sentences",
        {"sentences": "It rains.", "model": DISCRIMINATOR},
        "cannot fill masks: a discriminator says of each token",
    ),
    ("fill_several", {"text": BLANKS, "steps": 0}, "steps must be a whole number from 1 to 12"),
    ("fill_several", {"text": BLANKS, "model": "gpt2-mini"}, "cannot fill masks: GPT-2 reads only from the left"),
    ("contextual_similarity", {"sentences": "a bank\n" * 9, "word": "bank"}, "at most 8"),
    ("contextual_similarity", {"sentences": "a bank\nbank " + "and " * 600, "word": "bank"}, "Sentence 2: This is 603"),
    ("logit_lens", {"text": "[MASK] " * 17}, "17 masks"),
    ("family", {"which": ["nothing"]}, "bundled and published"),
    ("count_parameters", {"layers": 1000}, "from 0 to 200"),
    ("count_parameters", {"base": "bert-mini", "shared": "yes"}, "Choose an ALBERT"),
    ("score_order", {"model": "bert-small", "first": "One.", "second": "Two."}, "cannot tell sentence order"),
    ("score_order", {"model": "albert-mini", "first": "", "second": "Two."}, "first sentence is empty"),
    ("attention_of_directions", {"text": SENTENCE, "layer": 9}, "has no layer 9"),
    ("replaced_tokens", {"text": SENTENCE, "model": "bert-mini"}, "cannot detect replaced tokens"),
    (
        "replaced_draws",
        {"text": SENTENCE, "model": DISCRIMINATOR, "draws": 51},
        "draws must be a whole number from 1 to 50",
    ),
    ("attribute", {"text": "a [MASK]", "baseline": "noise"}, "baseline is one of"),
    ("attention", {"sentence_a": SENTENCE, "layer": 6}, "6 layers, 0 to 5"),
    ("attention", {"sentence_a": SENTENCE, "masked": "0"}, "holds no token"),
    ("query_key", {"sentence_a": SENTENCE, "position": 99}, "99"),
    ("ablate_heads", {"text": "no blank"}, "write [MASK]"),
    ("ablate_heads", {"text": "a [MASK]", "heads": "nose"}, "heads takes pairs"),
    ("ablate_heads", {"text": "a [MASK]", "heads": {"a": 1}}, "heads takes pairs"),
    ("soft_targets", {"text": "x [MASK]", "temperature": 0}, "temperature must be a number above 0"),
    ("distillation_losses", {"text": "x", "alpha": 2}, "alpha must be a number from 0 to 1"),
    ("distill", {"temperature": 0}, "temperature must be a number above 0"),
    ("distill", {"labelled": -1}, "labelled must be"),
    ("distill", {"seeds": 0}, "seeds must be"),
    ("distill", {"loss": "mse"}, "loss must be kl or l2"),
)


@each_row(("name", "given", "said"), REFUSED, ids=[f"{name}-{said}" for name, _, said in REFUSED])
def test_what_makes_no_sense_is_refused_in_a_sentence(name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ExplorerError) as refused:
        explorer.run(name, **given)
    assert said in str(refused.value)
    assert str(refused.value)[-1] in ".!?"
