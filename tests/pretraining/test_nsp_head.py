"""The NSP head fitted anew: it learns what the pooled states tell, and nothing else of the model changes."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.objectives.rows import IS_NEXT, NOT_NEXT, Row, row_maker
from pretraining import __main__ as command_line
from pretraining import pair_recipes
from pretraining.export import export_model, overwrite
from pretraining.measures.everyday import everyday_pairs
from pretraining.nsp_head import RANDOM, Drawn, draw, fit_head, fitted, without_held_out
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place
from pretraining.pair_recipes import HeadRecipe
from pretraining.starts.sentences import SentenceEncoder
from pretraining.store import everyday_store, load_stores
from tests.pretraining.conftest import tiny_model
from tests.pretraining.objectives.tiny import RECIPES

HEAD = {"cls.seq_relationship.weight", "cls.seq_relationship.bias"}
RECIPE = HeadRecipe(neighbours={"everyday": 90}, random={"wikitext": 12}, length=32)


@pytest.fixture
def folder(tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> Path:
    export_model(tiny_model(len(tokenizer)), tokenizer, tmp_path / "tiny")
    return tmp_path / "tiny"


def drawn_of(labels: np.ndarray, kind: str = "everyday") -> list[Drawn]:
    return [Drawn(Row([], [], int(label)), kind, number % 3) for number, label in enumerate(labels)]


def test_a_separable_set_is_learned_whatever_the_states_scale() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([IS_NEXT, NOT_NEXT])[rng.integers(2, size=300)]
    states = rng.normal(size=(300, 5)).astype(np.float32) * [1, 10, 0.1, 1, 1] + [0, 3, -2, 0, 0]
    states[:, 2] += np.where(labels == IS_NEXT, 1, -1)
    (weight, bias), strength, right = fitted(states.astype(np.float32), drawn_of(labels), RECIPE)
    assert right == {"everyday": 1.0}
    assert ((states @ weight + bias > 0) == (labels == IS_NEXT)).all()
    assert strength == min(RECIPE.strengths)


def test_where_the_states_tell_nothing_the_weights_are_held_small() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([IS_NEXT, NOT_NEXT])[rng.integers(2, size=90)]
    _, strength, _ = fitted(rng.normal(size=(90, 40)).astype(np.float32), drawn_of(labels), RECIPE)
    assert strength == max(RECIPE.strengths)


def test_both_classes_weigh_alike_however_many_there_are() -> None:
    """Of one state for all pairs nothing is learned but how often they are true."""
    labels = np.array([IS_NEXT] * 30 + [NOT_NEXT] * 90)
    (weight, bias), _, _ = fitted(np.zeros((120, 2), dtype=np.float32), drawn_of(labels), RECIPE)
    assert bias == pytest.approx(0.0, abs=1e-3)
    assert weight == pytest.approx([0.0, 0.0])


def test_every_pair_stands_in_both_classes_and_both_halves_of_a_false_one_are_of_its_fold(
    place: Place, tokenizer: PreTrainedTokenizerBase
) -> None:
    stores = load_stores(place.corpus, tokenizer, place.work / "tokens") | {"everyday": everyday_store(tokenizer)}
    maker = row_maker(tokenizer)
    drawn = draw(RECIPE, stores, maker, SentenceEncoder(tokenizer, place.downloads, place.work / "tokens"))
    matched = [pair for pair in drawn if pair.kind == "everyday"]
    firsts: dict[tuple[int, ...], list[Drawn]] = {}
    folds: dict[tuple[int, ...], set[int]] = {}
    for pair in matched:
        middle = pair.row.input_ids.index(maker.sep_id)
        parts = tuple(pair.row.input_ids[1:middle]), tuple(pair.row.input_ids[middle + 1 : -1])
        firsts.setdefault(parts[0], []).append(pair)
        for part in parts:
            folds.setdefault(part, set()).add(pair.fold)
    assert len(firsts) > 10
    assert all([pair.row.pair_label for pair in both] == [IS_NEXT, NOT_NEXT] for both in firsts.values())
    assert all(len(found) == 1 for found in folds.values())
    assert sum(pair.kind == RANDOM for pair in drawn) == 12


def test_no_pair_with_a_sentence_near_a_held_out_one_is_learned_from(tokenizer: PreTrainedTokenizerBase) -> None:
    maker, (first, second, _) = row_maker(tokenizer), everyday_pairs()[0]

    def ids(text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    near, far = ids(f"Yesterday {first}"), ids("The river is long.")
    rows = [maker.joined(near, far, IS_NEXT), maker.joined(far, ids(second), NOT_NEXT), maker.joined(far, far, IS_NEXT)]
    assert without_held_out([Drawn(row, "everyday", 0) for row in rows], tokenizer) == [Drawn(rows[2], "everyday", 0)]


def test_the_command_changes_the_head_alone_and_leaves_a_record(
    folder: Path, place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = load_file(folder / "model.safetensors")
    monkeypatch.setattr(pair_recipes, "HeadRecipe", lambda: RECIPE)
    given = ["head", str(folder), "--corpus", str(place.corpus), "--work", str(place.work)]
    monkeypatch.setattr(sys, "argv", ["x", *given])
    command_line.main()
    after = load_file(folder / "model.safetensors")
    assert {name for name, value in after.items() if not torch.equal(value, before[name])} == HEAD
    about = json.loads(capsys.readouterr().out)
    assert about == json.loads((folder / "head.json").read_text())
    assert about["strength"] in RECIPE.strengths
    assert set(about["cross_validated"]) == {"everyday", "random"}


def test_a_model_without_the_head_is_refused(place: Place) -> None:
    (other,) = PRETRAINERS["full sentences"](RECIPES["full sentences"], place).export(place.models)
    with pytest.raises(BadInputError, match="no NSP head"):
        fit_head(other, RECIPE, place)


def test_a_tensor_is_overwritten_in_its_place_and_every_other_byte_stays(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "as it was")
    name = "cls.seq_relationship.weight"
    overwrite(folder, {name: torch.full((2, 32), 0.5)})
    old, new = (
        np.frombuffer((one / "model.safetensors").read_bytes(), dtype=np.uint8)
        for one in (tmp_path / "as it was", folder)
    )
    changed = np.flatnonzero(old != new)
    assert changed[-1] - changed[0] < 2 * 32 * 2
    assert load_file(folder / "model.safetensors")[name].eq(0.5).all()
    assert not list(folder.glob("*.partial"))


@pytest.mark.parametrize(
    ("given", "says"),
    [({"cls.nothing": torch.zeros(2)}, "no cls.nothing"), ({min(HEAD): torch.zeros(3)}, "another shape")],
)
def test_a_tensor_that_does_not_fit_is_refused(given: dict[str, torch.Tensor], says: str, folder: Path) -> None:
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(BadInputError, match=says):
        overwrite(folder, given)
    assert (folder / "model.safetensors").read_bytes() == before
