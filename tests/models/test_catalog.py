"""The picker's cards against the table of families and the folders that are bundled."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from explorer.models.catalog import CATALOG, DEFAULT_MODEL, ModelCard, bundled_with, find_card
from explorer.models.families import ARCHITECTURES, Capability, find_architecture
from explorer.models.folders import weight_files
from explorer.settings import BUNDLED_MODELS

BUNDLED = pytest.mark.parametrize("card", [card for card in CATALOG if card.bundled], ids=lambda card: card.model_id)


def weights_in(folder: Path) -> int:
    """How many numbers the safetensors files of a folder hold, from their headers alone."""
    total = 0
    for path in weight_files(folder):
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        total += sum(math.prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")
    return total


def test_every_card_is_of_a_family_that_the_app_knows() -> None:
    assert {card.family for card in CATALOG} <= {architecture.family for architecture in ARCHITECTURES}


def test_every_family_has_a_card() -> None:
    assert {architecture.family for architecture in ARCHITECTURES} == {card.family for card in CATALOG}


def test_no_model_is_listed_twice() -> None:
    ids = [card.model_id for card in CATALOG]
    assert len(ids) == len(set(ids))


def test_exactly_the_bundled_models_lie_in_the_folder_of_bundled_models() -> None:
    folders = {folder.name for folder in BUNDLED_MODELS.iterdir() if folder.is_dir()}
    assert folders == {card.model_id for card in CATALOG if card.bundled}


@BUNDLED
def test_a_bundled_model_is_whole_and_of_its_cards_family(card: ModelCard) -> None:
    folder = BUNDLED_MODELS / card.model_id
    config = json.loads((folder / "config.json").read_text())
    architecture = find_architecture(config["model_type"], config["architectures"])
    assert architecture is not None
    assert architecture.family == card.family
    assert weight_files(folder)
    assert (folder / "tokenizer.json").is_file()


@BUNDLED
def test_a_bundled_models_card_tells_its_size(card: ModelCard) -> None:
    assert weights_in(BUNDLED_MODELS / card.model_id) / 1e6 == pytest.approx(card.millions, rel=0.02)


def test_the_default_is_bundled() -> None:
    card = find_card(DEFAULT_MODEL)
    assert card is not None
    assert card.bundled


def test_a_card_can_do_what_its_family_can_but_for_what_it_lacks() -> None:
    assert ModelCard("x/y", "BERT", 1).capabilities == (Capability.MLM, Capability.NSP)
    assert ModelCard("x/y", "BERT", 1, lacks=(Capability.NSP,)).capabilities == (Capability.MLM,)


def test_a_page_can_offer_a_bundled_model_for_masks_and_for_pairs() -> None:
    assert DEFAULT_MODEL in bundled_with(Capability.MLM)
    assert DEFAULT_MODEL in bundled_with(Capability.NSP)


def test_a_model_that_is_not_listed_has_no_card() -> None:
    assert find_card("someone/else") is None
