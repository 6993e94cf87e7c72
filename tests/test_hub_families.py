"""The families that only the hub's list has, and DeBERTa as version 3 is built: tiny random checkpoints on every page."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import AutoConfig

import explorer
from explorer.errors import BadInputError, ExplorerError
from explorer.models.catalog import CATALOG
from explorer.models.families import Capability, by_family
from explorer.tuning.methods import find_method
from tests.models.tiny import save
from tests.pairs import ALL_PAIRS
from tests.rows import each_row

V3 = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_buckets": 8,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
}
KINDS: dict[str, dict[str, Any]] = {
    "XLM-RoBERTa": {},
    "CamemBERT": {},
    "EuroBERT": {},
    "ModernBERT": {},
    "ModernBERT decoder": {},
    "DeBERTa-v2/v3": V3,
}
OTHER_METHODS = ("full", "bitfit", "ia3", "prefix", "prompt", "houlsby")
TEXT, BLANK = "the cat sat on a mat", "the cat sat on the [MASK]"
QUICK: dict[str, Any] = {"examples": 16, "epochs": 1, "prefix_length": 4}
FEW: dict[str, Any] = {"examples": 8, "held_out": 8}

EVERY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("tokenize", {"text": TEXT, "models": ("MODEL", "bert-mini")}),
    ("embedding_parts", {"sentence_a": TEXT}),
    ("token_parts", {"sentence_a": TEXT, "position": 2}),
    ("layer_movement", {"models": "MODEL", "text": TEXT}),
    ("contextual_similarity", {"sentences": "the cat sat\na cat", "word": "cat"}),
    ("attention", {"sentence_a": TEXT, "layer": 1, "head": 1}),
    ("head_statistics", {"sentence_a": TEXT}),
    ("attention_view", {"sentence_a": TEXT, "view": "model"}),
    ("query_key", {"sentence_a": TEXT, "layer": 1, "head": 1, "position": 2}),
    ("score_sentences", {"sentences": (TEXT, "a cat")}),
    ("importance", FEW),
    ("prune", {**FEW, "unit": "both", "share": 0.5}),
    ("quantise", {"held_out": 8, "batch": 2}),
    ("plan_run", {"method": "lora"}),
)
WITH_MASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fill_masks", {"text": BLANK, "top_k": 2}),
    ("fill_several", {"text": "the [MASK] sat on [MASK]", "steps": 2}),
    ("swap_word", {"text": BLANK, "word": "cat", "other": "mat"}),
    ("corrupt", {"text": TEXT, "rate": 0.5}),
    ("masking_rates", {"models": "MODEL", "text": TEXT}),
    ("logit_lens", {"text": BLANK, "top_k": 2}),
    ("ablate_heads", {"text": BLANK, "heads": "0.1"}),
    ("ablate_each_head", {"text": BLANK}),
    ("attribute", {"text": BLANK, "steps": 4}),
    ("soft_targets", {"text": BLANK}),
)
WITH_TEXTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("next_token", {"text": TEXT}),
    ("continue_text", {"text": TEXT, "tokens": 3, "decoding": ("greedy",)}),
    ("logit_lens", {"text": TEXT, "top_k": 2}),
    ("ablate_each_head", {"text": BLANK}),
    ("attribute", {"text": TEXT, "steps": 4}),
)
RUN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("predict_run", {"sentence_a": TEXT}),
    ("attribute_run", {"sentence_a": TEXT}),
    ("ablate_run_heads", {"sentence_a": TEXT, "heads": "0.1"}),
    ("delta_spectrum", {}),
    ("merge_check", {}),
    ("importance", FEW),
    ("prune", {**FEW, "unit": "head", "share": 0.5}),
)


@pytest.fixture(scope="module", params=KINDS)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(family: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save(tmp_path_factory.mktemp("families") / "model", family, **KINDS[family]))


@pytest.fixture(scope="module")
def run_id(model: str) -> str:
    return str(explorer.run("train", model=model, **QUICK).result.run_id)


def rows_of(action: str, model: str, given: dict[str, Any]) -> int:
    def meant(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(meant, value))
        return model if value == "MODEL" else value

    filled = {name: meant(value) for name, value in given.items()}
    asked = {} if action in ("tokenize", "layer_movement", "masking_rates") else {"model": model}
    return len(explorer.run(action, **asked, **filled).table.rows)


def test_every_family_is_on_the_list(family: str) -> None:
    assert any(card.family == family and not card.bundled for card in CATALOG)


@each_row(("action", "given"), EVERY, ids=[name for name, _ in EVERY])
def test_it_is_seen_on_every_page(model: str, action: str, given: dict[str, Any]) -> None:
    assert rows_of(action, model, given) > 0


@each_row(("action", "given"), WITH_MASKS, ids=[name for name, _ in WITH_MASKS])
def test_it_fills_masks(family: str, model: str, action: str, given: dict[str, Any]) -> None:
    if Capability.MLM not in by_family(family).heads:
        pytest.skip("it continues texts")
    assert rows_of(action, model, given) > 0


@each_row(("action", "given"), WITH_TEXTS, ids=[name for name, _ in WITH_TEXTS])
def test_it_continues_texts(family: str, model: str, action: str, given: dict[str, Any]) -> None:
    if Capability.CAUSAL not in by_family(family).heads:
        pytest.skip("it fills masks")
    assert rows_of(action, model, given) > 0


@each_row(("action", "given"), RUN, ids=[name for name, _ in RUN])
def test_a_run_of_it_is_looked_into(run_id: str, action: str, given: dict[str, Any]) -> None:
    assert explorer.run(action, run=run_id, **given).table.rows


def test_other_methods_train_it_or_say_why_not(family: str, model: str) -> None:
    """Each method of two families, each family by two methods; tests/tuning has these pairs step by step."""
    config = AutoConfig.from_pretrained(model).to_dict()
    own = OTHER_METHODS if ALL_PAIRS else OTHER_METHODS[list(KINDS).index(family) % 3 :: 3]
    for method in own:
        if find_method(method).unavailable(by_family(family), config):
            with pytest.raises(ExplorerError, match="cannot be had"):
                explorer.run("train", model=model, method=method, **QUICK)
        else:
            assert explorer.run("train", model=model, method=method, **QUICK).result.status == "done", method


def test_a_student_is_made_of_it(run_id: str) -> None:
    answer = explorer.run("distill", teacher=run_id, student_layers=1, examples=16, epochs=1)
    assert answer.result.students[0].status == "done"


def test_its_scores_are_taken_apart_where_it_has_terms(family: str, model: str) -> None:
    for action, given in (("disentangled_terms", {"sentence_a": TEXT}), ("relative_positions", {"length": 9})):
        if by_family(family).disentangled:
            assert rows_of(action, model, given) > 0
        else:
            with pytest.raises(BadInputError, match="deberta-mini"):
                rows_of(action, model, given)
