"""One way to ask every head."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import pipeline

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel, load_bundle
from explorer.models.questions import QUESTIONS, class_name, fitting_question, question, scores
from explorer.settings import Settings
from tests.models.tiny import save


def tiny(folder: Path, family: str) -> LoadedModel:
    return load_bundle(str(save(folder, family)), Settings(device="cpu"))


@pytest.mark.parametrize(
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
    bundle = tiny(tmp_path, family)
    encoded = encode(bundle, *texts)
    asked = fitting_question(bundle, encoded, len(texts) == 2)
    assert asked.slug == slug
    assert asked.places(bundle, encoded) == places
    with torch.inference_mode():
        logits = scores(asked, bundle, bundle.model(**encoded.inputs))
    assert logits.ndim == 3
    assert logits.shape[1] == (1 if asked.needs and slug in ("next", "order") else len(encoded.tokens))
    assert logits.softmax(-1).sum(-1) == pytest.approx(torch.ones(logits.shape[:2]), abs=1e-5)
    assert class_name(asked, bundle, 1)


def test_a_text_that_asks_nothing_is_told_what_to_write(tmp_path: Path) -> None:
    bundle = tiny(tmp_path, "BERT")
    with pytest.raises(BadInputError, match=r"\[MASK\]"):
        fitting_question(bundle, encode(bundle, "the cat"), False)
    headless = LoadedModel(**{**vars(bundle), "capabilities": frozenset()})
    with pytest.raises(MissingCapabilityError, match="no pretrained head"):
        fitting_question(headless, encode(bundle, "the [MASK]"), False)
    ordered = tiny(tmp_path / "albert", "ALBERT")
    ordered = LoadedModel(**{**vars(ordered), "capabilities": ordered.capabilities - {question("mask").needs}})
    with pytest.raises(BadInputError, match="second text"):
        fitting_question(ordered, encode(ordered, "the cat"), False)


def test_replaced_tokens_are_a_sigmoid(tmp_path: Path) -> None:
    bundle = tiny(tmp_path, "ELECTRA discriminator")
    encoded = encode(bundle, "the cat sat")
    with torch.inference_mode():
        output = bundle.model(**encoded.inputs)
    replaced = scores(question("replaced"), bundle, output).softmax(-1)[..., 1]
    assert replaced == pytest.approx(output.logits.sigmoid(), abs=1e-6)


def test_masks_agree_with_the_pipeline_of_transformers(bundle: LoadedModel) -> None:
    encoded = encode(bundle, "The capital of France is [MASK].")
    asked = fitting_question(bundle, encoded, False)
    with torch.inference_mode():
        row = scores(asked, bundle, bundle.model(**encoded.inputs))[0, asked.places(bundle, encoded)[0]].softmax(-1)
    fill = pipeline("fill-mask", model="assets/models/bert-small", top_k=3)
    for entry in fill("The capital of France is [MASK]."):
        assert float(row[entry["token"]]) == pytest.approx(entry["score"], abs=1e-5)
        assert class_name(asked, bundle, entry["token"]) == entry["token_str"]


def test_names_are_unique_and_unknown_ones_refused() -> None:
    assert len({entry.slug for entry in QUESTIONS}) == len(QUESTIONS)
    with pytest.raises(BadInputError, match="mask, next, order"):
        question("nonsense")
