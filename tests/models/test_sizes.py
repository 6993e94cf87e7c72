"""Parameters counted without weights, against loaded models, the catalog and the papers."""

from __future__ import annotations

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.catalog import bundled, find_card
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.loaded_model import LoadedModel
from explorer.models.published import PUBLISHED
from explorer.models.sizes import Outline, grouped, outline_of
from tests.models.tiny import build
from tests.rows import each_row


@each_row("entry", PUBLISHED, ids=lambda entry: str(entry.model_id))
def test_a_published_model_has_the_size_that_the_catalog_gives(entry: object) -> None:
    outline = outline_of(entry.model_id)  # type: ignore[attr-defined]
    total = grouped(outline).total
    card = find_card(outline.model_id)
    if card is not None:
        assert card.family == outline.architecture.family
        assert total / 1e6 == pytest.approx(card.millions, rel=0.01)
    if outline.parts is not None:
        assert sum(part.count for part in outline.parts) == total


PAPERS = {  # shared facts of the papers, heads left out or small beside the rounding
    "google-bert/bert-base-uncased": 110,
    "google-bert/bert-large-uncased": 340,
    "FacebookAI/roberta-base": 125,
    "albert/albert-base-v2": 12,
    "albert/albert-xxlarge-v2": 235,
    "google/electra-small-discriminator": 14,
    "google/electra-base-discriminator": 110,
}


@each_row(("model_id", "millions"), PAPERS.items(), ids=list(PAPERS))
def test_a_published_model_has_about_the_size_that_its_paper_gives(model_id: str, millions: float) -> None:
    assert grouped(outline_of(model_id)).total / 1e6 == pytest.approx(millions, rel=0.06)


def test_a_bundled_model_is_counted_as_it_is_when_loaded(loaded: LoadedModel) -> None:
    groups = grouped(outline_of("bert-small"))
    assert groups.total == loaded.parameters
    assert groups.words == loaded.model.get_input_embeddings().weight.numel()


@each_row("name", bundled())
def test_every_bundled_model_has_the_millions_of_its_card(name: str) -> None:
    card = find_card(name)
    assert card is not None
    assert grouped(outline_of(name)).total / 1e6 == pytest.approx(card.millions, abs=0.05)


@each_row("architecture", ARCHITECTURES, ids=lambda entry: str(entry.family))
def test_every_parameter_is_in_one_group_and_no_layer_is_missed(architecture: Architecture) -> None:
    model = build(architecture)
    groups = grouped(Outline("tiny", architecture, model.config))
    assert groups.total == sum(parameter.numel() for parameter in model.parameters())
    assert groups.words == model.get_input_embeddings().weight.numel()
    path = architecture.layers.path.split("*")[0]
    layers = model.get_submodule(f"{architecture.layers.body}.{path.rstrip('.')}")
    assert groups.layers == sum(parameter.numel() for parameter in layers.parameters())


@each_row("architecture", ARCHITECTURES, ids=lambda entry: str(entry.family))
def test_other_sizes_are_those_of_a_model_built_so(architecture: Architecture) -> None:
    model = build(architecture)
    resized = Outline("tiny", architecture, model.config).resized(vocab_size=50, hidden_size=48, layers=3, inner=96)
    config = resized.config
    assert (config.vocab_size, config.hidden_size, config.num_hidden_layers, resized.inner) == (50, 48, 3, 96)
    torch.manual_seed(0)
    real = type(model)(config)
    assert grouped(resized).total == sum(parameter.numel() for parameter in real.parameters())


@each_row("model_id", {entry.family: entry.model_id for entry in PUBLISHED}.values())
def test_a_vocabulary_without_the_padding_token_is_counted_too(model_id: str) -> None:
    small = outline_of(model_id).resized(vocab_size=1, hidden_size=64, layers=1, inner=64)
    assert grouped(small).words == small.embedding_size


def test_the_number_of_heads_does_not_change_the_count() -> None:
    base = outline_of("google-bert/bert-base-uncased")
    assert grouped(base.resized()).total == grouped(base).total


@each_row(("embedding_size", "shared", "unshared"), [(64, 10, 87), (128, 12, 89), (256, 16, 93), (768, 31, 108)])
def test_factorised_and_shared_as_in_albert_s_table_3(embedding_size: int, shared: int, unshared: int) -> None:
    """The table rounds to millions, does not say which heads it counts, and has no map where E is the layers' width."""
    base = outline_of("albert/albert-base-v2")
    for share, millions in ((True, shared), (False, unshared)):
        parts = base.resized(embedding_size=embedding_size, shared=share).parts
        assert parts is not None
        count = sum(part.count for part in parts if "head" not in part.name)
        assert count / 1e6 == pytest.approx(millions, abs=1.8)


def test_unshared_layers_by_formula_and_by_counting() -> None:
    outline = outline_of("albert/albert-base-v2").resized(shared=False, layers=5)
    assert outline.parts is not None
    assert sum(part.count for part in outline.parts) == grouped(outline).total


def test_what_a_family_does_not_have_cannot_be_changed() -> None:
    bert = outline_of("bert-small")
    with pytest.raises(BadInputError, match="as wide as its layers"):
        bert.resized(embedding_size=128)
    with pytest.raises(BadInputError, match="does not share"):
        bert.resized(shared=True)
    assert grouped(bert.resized(shared=False)).total == grouped(bert).total


@pytest.mark.parametrize("name", ["nobody/nothing", "", "../secrets"])
def test_a_model_that_is_not_listed_is_refused(name: str) -> None:
    with pytest.raises(BadInputError, match="Choose one of the list"):
        outline_of(name)
