"""One way to ask every head."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import pipeline

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.models.questions import QUESTIONS, class_name, fitting_question, question, scores
from explorer.settings import Settings
from tests.models.tiny import save
from tests.rows import each_row


def tiny(folder: Path, family: str) -> LoadedModel:
    return load_model(str(save(folder, family)), Settings(device="cpu"))


@each_row(
    ("family", "texts", "slug", "places"),
    [
        ("BERT", ("the [MASK] sat",), "mask", [2]),
        ("BERT", ("the [MASK] sat", "a cat"), "mask", [2]),
        ("BERT", ("the cat", "a mat"), "next", [0]),
        ("ALBERT", ("the cat", "a mat"), "order", [0]),
        ("ELECTRA discriminator", ("the cat sat",), "replaced", [1, 2, 3]),
        ("GPT-2", ("the cat",), "continue", [3]),
    ],
)
def test_a_text_puts_its_own_question(
    tmp_path: Path, family: str, texts: tuple[str, ...], slug: str, places: list[int]
) -> None:
    loaded = tiny(tmp_path, family)
    encoded = encode(loaded, *texts)
    asked = fitting_question(loaded, encoded, len(texts) == 2)
    assert asked.slug == slug
    assert asked.places(loaded, encoded) == places
    with torch.inference_mode():
        logits = scores(asked, loaded, loaded.model(**encoded.inputs))
    assert logits.ndim == 3
    assert logits.shape[1] == (1 if asked.needs and slug in ("next", "order") else len(encoded.tokens))
    assert logits.softmax(-1).sum(-1) == pytest.approx(torch.ones(logits.shape[:2]), abs=1e-5)
    assert class_name(asked, loaded, 1)


def test_a_text_that_asks_nothing_is_told_what_to_write(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, "BERT")
    with pytest.raises(BadInputError, match=r"\[MASK\]"):
        fitting_question(loaded, encode(loaded, "the cat"), False)
    headless = LoadedModel(**{**vars(loaded), "capabilities": frozenset()})
    with pytest.raises(MissingCapabilityError, match="no pretrained head"):
        fitting_question(headless, encode(loaded, "the [MASK]"), False)
    ordered = tiny(tmp_path / "albert", "ALBERT")
    ordered = LoadedModel(**{**vars(ordered), "capabilities": ordered.capabilities - {question("mask").needs}})
    with pytest.raises(BadInputError, match="second text"):
        fitting_question(ordered, encode(ordered, "the cat"), False)


def test_replaced_tokens_are_a_sigmoid(tmp_path: Path) -> None:
    loaded = tiny(tmp_path, "ELECTRA discriminator")
    encoded = encode(loaded, "the cat sat")
    with torch.inference_mode():
        output = loaded.model(**encoded.inputs)
    replaced = scores(question("replaced"), loaded, output).softmax(-1)[..., 1]
    assert replaced == pytest.approx(output.logits.sigmoid(), abs=1e-6)


def test_masks_agree_with_the_pipeline_of_transformers(loaded: LoadedModel) -> None:
    encoded = encode(loaded, "The capital of France is [MASK].")
    asked = fitting_question(loaded, encoded, False)
    with torch.inference_mode():
        row = scores(asked, loaded, loaded.model(**encoded.inputs))[0, asked.places(loaded, encoded)[0]].softmax(-1)
    fill = pipeline("fill-mask", model="assets/models/bert-small", top_k=3)
    for entry in fill("The capital of France is [MASK]."):
        assert float(row[entry["token"]]) == pytest.approx(entry["score"], abs=1e-5)
        assert class_name(asked, loaded, entry["token"]) == entry["token_str"]


def test_names_are_unique_and_unknown_ones_refused() -> None:
    assert len({entry.slug for entry in QUESTIONS}) == len(QUESTIONS)
    with pytest.raises(BadInputError, match="mask, next, order"):
        question("nonsense")
