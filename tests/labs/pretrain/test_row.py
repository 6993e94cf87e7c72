"""One row against the collator that made the bundled models, against transformers' own loss, and on bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForPreTraining, PreTrainedTokenizerBase

from explorer.engine.resources import Resources
from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.pretrain.row import BREAD, LIGHTHOUSE, ROOM, SEED, TRY, RowParams, RowResult, Segment
from explorer.labs.pretrain.row_jobs import pretraining_row
from explorer.lru_cache import LRUCache
from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.models.loaded_model import ModelStore
from explorer.objectives.batches import Batch, collate
from explorer.objectives.rows import row_maker
from explorer.objectives.text import TextStore
from explorer.settings import BUNDLED_MODELS, Settings
from tests.rows import each_row

MODEL = "bert-mini"
LONG = " ".join(f"The {number} keepers lit the lamp in the tower, and ships came by night." for number in range(30))
FORCED = {"drawn": None, "next": True, "elsewhere": False}

Ask = Callable[..., RowResult]


@pytest.fixture(scope="module")
def ask() -> Ask:
    store = ModelStore(Settings(device="cpu", offline=True))

    def none() -> Any:
        raise AssertionError("no run and no tokenizer is asked for")

    resources = Resources(store.get, none, none, LRUCache(1), "")

    @torch.inference_mode()
    def asked(**given: Any) -> RowResult:
        return pretraining_row(resources, RowParams(**{"model": MODEL, **given}))

    return asked


@pytest.fixture(scope="module")
def reader() -> PreTrainedTokenizerBase:
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(BUNDLED_MODELS / MODEL)
    return tokenizer


@pytest.fixture(scope="module")
def model() -> BertForPreTraining:
    made: BertForPreTraining = BertForPreTraining.from_pretrained(BUNDLED_MODELS / MODEL, dtype=torch.float32).eval()
    return made


CASES: tuple[dict[str, Any], ...] = (
    {},
    {"seed": SEED},
    {"seed": 1},
    {"seed": 5, "next": "next", "rate": 0.5, "scheme": "whole_word"},
    {"seed": 7, "next": "elsewhere", "scheme": "ngram", "rate": 0.3},
    {"seed": 2, "document_a": LONG, "document_b": LONG},
)


def collated(reader: PreTrainedTokenizerBase, given: dict[str, Any]) -> Batch:
    """The same row as the trainers draw one."""
    texts = given.get("document_a", LIGHTHOUSE), given.get("document_b", BREAD)
    store, seed = TextStore.from_documents([[text] for text in texts], reader), given.get("seed", 0)
    pair = row_maker(reader).drawn_pair(
        store, ROOM, np.random.default_rng(seed), 0.0, document=0, follows=FORCED[given.get("next", "drawn")]
    )
    recipe = CorruptionRecipe(rate=given.get("rate", 0.15), scheme=given.get("scheme", "token"))
    return collate([pair.row], recipe, Masker(reader), torch.Generator().manual_seed(seed))


@each_row("given", CASES)
def test_the_row_is_the_collator_s_and_its_losses_are_the_model_s_own(
    ask: Ask, reader: PreTrainedTokenizerBase, model: BertForPreTraining, given: dict[str, Any]
) -> None:
    result, batch = ask(**given), collated(reader, given)
    ids = reader.convert_tokens_to_ids
    assert ids([token.shown for token in result.tokens]) == batch.input_ids[0].tolist()
    assert [token.segment for token in result.tokens] == batch.token_type_ids[0].tolist()
    labels = [IGNORED_LABEL if token.loss is None else ids(token.token) for token in result.tokens]
    assert labels == batch.labels[0].tolist()
    assert int(batch.pair_labels[0]) == (0 if result.follows else 1)
    with torch.inference_mode():
        row = {"input_ids": batch.input_ids, "token_type_ids": batch.token_type_ids}
        output = model(**row, labels=batch.labels, next_sentence_label=batch.pair_labels)
    masked = torch.nn.functional.cross_entropy(output.prediction_logits[0], batch.labels[0])
    pair = torch.nn.functional.cross_entropy(output.seq_relationship_logits, batch.pair_labels)
    assert result.mlm_loss == pytest.approx(float(masked), abs=1e-5)
    assert result.nsp_loss == pytest.approx(float(pair), abs=1e-5)
    assert result.total == pytest.approx(float(output.loss), abs=1e-5)
    assert result.pair == pytest.approx(output.seq_relationship_logits[0].softmax(-1).tolist(), abs=1e-5)
    chances = output.prediction_logits[0].softmax(-1)
    for token in result.chosen:
        assert token.probability == pytest.approx(float(chances[token.position, ids(token.token)]), abs=1e-5)
        assert token.guess == reader.convert_ids_to_tokens(int(chances[token.position].argmax()))


def test_the_losses_are_the_terms_mean_and_the_probability_s_logarithm(ask: Ask) -> None:
    result = ask(rate=0.4, seed=3)
    losses = [token.loss or 0.0 for token in result.chosen]
    assert result.mlm_loss == pytest.approx(np.mean(losses), abs=1e-5)
    assert losses == pytest.approx([-np.log(token.probability or 0.0) for token in result.chosen], abs=1e-5)
    assert result.nsp_loss == pytest.approx(-np.log(result.pair[0 if result.follows else 1]), abs=1e-5)


def test_segments_name_the_sentences_that_stand_in_the_row(ask: Ask, reader: PreTrainedTokenizerBase) -> None:
    for seed in range(12):
        result = ask(seed=seed)
        for number, part in enumerate((result.a, result.b)):
            inside = [token.token for token in result.tokens if token.segment == number and not token.special]
            sentences = result.documents[part.document][part.first : part.stop]
            assert inside == [piece for sentence in sentences for piece in reader.tokenize(sentence)]
        assert result.a.document == 0
        if result.follows:
            assert result.b == Segment(0, result.a.stop, len(result.documents[0]))
        else:
            assert result.b.document == 1
        assert result.cut == 0


def test_a_coin_decides_unless_it_is_said_and_half_of_the_seeds_say_next(ask: Ask) -> None:
    tossed = [ask(seed=seed).follows for seed in range(20)]
    assert 5 <= sum(tossed) <= 15
    assert all(ask(seed=seed, next="next").follows for seed in range(3))
    assert not any(ask(seed=seed, next="elsewhere").follows for seed in range(3))
    assert ask().tossed
    assert not ask(next="next").tossed


def test_what_has_no_room_is_counted(ask: Ask, reader: PreTrainedTokenizerBase) -> None:
    cut = [ask(document_a=LONG, document_b=LONG, seed=seed) for seed in range(5)]
    assert all(len(result.tokens) == result.room == ROOM for result in cut)
    assert all(result.cut > 0 and result.same for result in cut)
    short = ask(document_a="One lamp. Two lamps.", document_b="Bread.")
    assert short.cut == 0
    assert not short.same


def test_without_a_chosen_token_the_pair_alone_is_paid_for(ask: Ask) -> None:
    result = ask(rate=0)
    assert result.chosen == ()
    assert result.mlm_loss is None
    assert result.total == result.nsp_loss
    assert all(token.shown == token.token and token.fate == "untouched" for token in result.tokens)
    everything = ask(rate=1)
    assert len(everything.chosen) == sum(not token.special for token in everything.tokens)


def test_the_opening_row_holds_every_fate_and_each_experiment_changes_it(ask: Ask) -> None:
    opening = ask(model="bert-small", seed=SEED)
    assert {token.fate for token in opening.chosen} == {"mask", "random", "kept"}
    assert not opening.follows
    assert opening.pair[1] > 0.5, "the model is right about the pair"
    tried = [ask(seed=SEED, **given) for given in TRY.values()]
    assert len({result.tokens for result in (ask(seed=SEED), *tried)}) == len(tried) + 1


@each_row(
    ("given", "said"),
    [
        ({"document_a": " \n"}, "Document 1 is empty"),
        ({"document_b": ""}, "Document 2 is empty"),
        ({"document_a": "Only one sentence here"}, "Document 1 has no second sentence.*Add one"),
        ({"document_b": "\u200b"}, "Document 2 holds no token"),
        ({"document_a": "A word. " * 5000}, "at most 20,000"),
        ({"next": "maybe"}, "drawn, next, elsewhere"),
        ({"rate": 1.5}, "between 0 and 1"),
        ({"scheme": "all"}, "one of"),
        ({"model": " "}, "Choose a BERT"),
    ],
)
def test_bad_input_gets_a_sentence_that_names_the_fix(ask: Ask, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        ask(**given)


@pytest.mark.parametrize("name", ["albert-mini", "roberta-mini", "gpt2-mini"])
def test_a_model_without_both_heads_is_refused(ask: Ask, name: str) -> None:
    with pytest.raises(MissingCapabilityError, match=name):
        ask(model=name)


def test_lines_and_special_tokens_that_a_visitor_types_stay_text_of_the_row(ask: Ask) -> None:
    result = ask(document_a="We [SEP] left.\nIt was [MASK] late.\x00\n\nThey came.", rate=1)
    assert len(result.documents[0]) == 3
    typed = [token for token in result.tokens if token.token in ("[SEP]", "[MASK]")]
    assert all(token.special and token.loss is None for token in typed)
    assert [token.segment for token in result.tokens] == sorted(token.segment for token in result.tokens)
