"""The loop against its invariants, against plain transformers, and against what the card says of the discriminator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
import torch
from sklearn.metrics import roc_auc_score
from transformers import ElectraForMaskedLM, ElectraForPreTraining

from explorer.engine.resources import Resources
from explorer.errors import BadInputError, ExplorerError, MissingCapabilityError
from explorer.labs.replaced.jobs import replaced_by_hand, replaced_draws, replaced_tokens
from explorer.labs.replaced.schema import (
    DISCRIMINATOR,
    SEED,
    TEMPERATURE,
    DrawsParams,
    DrawsResult,
    HandParams,
    ReplacedParams,
    ReplacedResult,
)
from explorer.labs.replaced.schema import LIGHTHOUSE as TEXT
from explorer.labs.replaced.schema import TEXT as OPENING
from explorer.lru_cache import LRUCache
from explorer.models.families.electra import generator_of
from explorer.models.loaded_model import LoadedModel, ModelStore
from explorer.models.records import read_scores
from explorer.settings import BUNDLED_MODELS, Settings
from explorer.tasks.sources import load
from tests.models.tiny import save
from tests.rows import each_row

GENERATOR = "electra-mini-generator"


@pytest.fixture(scope="module")
def resources() -> Resources:
    store = ModelStore(Settings(device="cpu", offline=True))

    def none() -> Any:
        raise AssertionError("no run and no tokenizer is asked for")

    return Resources(store.get, none, none, LRUCache(1), "")


Ask = Callable[..., ReplacedResult]


@pytest.fixture(scope="module")
def ask(resources: Resources) -> Ask:
    @torch.inference_mode()
    def asked(text: str = TEXT, **given: Any) -> ReplacedResult:
        return replaced_tokens(resources, ReplacedParams(**{"model": DISCRIMINATOR, "text": text, **given}))

    return asked


@torch.inference_mode()
def last(resources: Resources, **given: Any) -> DrawsResult:
    return list(replaced_draws(resources, DrawsParams(**{"model": DISCRIMINATOR, "text": TEXT, **given})))[-1]


def test_the_bundled_pair_is_told_by_its_names() -> None:
    assert generator_of(DISCRIMINATOR) == GENERATOR
    for size in ("small", "base"):
        assert generator_of(f"google/electra-{size}-discriminator") == f"google/electra-{size}-generator"


def test_what_was_not_chosen_is_unchanged_and_a_right_guess_is_no_replacement(ask: Ask) -> None:
    guesses = 0
    for seed in range(30):
        result = ask(seed=seed)
        assert len(result.chosen) == 4 == round(0.15 * len(result.tokens))
        for token in result.tokens:
            assert token.is_replaced == (token.shown != token.original)
            assert token.chosen or not token.is_replaced
            assert (token.surprisal is None) == (token.drawn is None) == (not token.chosen)
            guesses += token.guessed
    assert guesses > 0


def test_a_seed_draws_the_same_again(ask: Ask) -> None:
    assert ask(seed=3) == ask(seed=3)
    assert [token.shown for token in ask(seed=3).tokens] != [token.shown for token in ask(seed=4).tokens]


def test_without_warmth_the_generator_writes_its_likeliest_token(ask: Ask) -> None:
    cold, colder = ask(temperature=1e-4, seed=2), ask(temperature=0.0, seed=2)
    assert [token.shown for token in cold.tokens] == [token.shown for token in colder.tokens]
    generator = ElectraForMaskedLM.from_pretrained(BUNDLED_MODELS / GENERATOR, dtype=torch.float32).eval()
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / GENERATOR)
    inputs = tokenizer(TEXT, return_tensors="pt")
    chosen = [token.position for token in cold.chosen]
    inputs["input_ids"][0, chosen] = tokenizer.mask_token_id
    with torch.no_grad():
        best = generator(**inputs).logits[0, chosen].argmax(-1)
    assert [token.shown for token in cold.chosen] == tokenizer.convert_ids_to_tokens(best)


def test_probabilities_and_losses_are_those_of_transformers_own_models(ask: Ask) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / DISCRIMINATOR)
    discriminator = ElectraForPreTraining.from_pretrained(BUNDLED_MODELS / DISCRIMINATOR, dtype=torch.float32).eval()
    generator = ElectraForMaskedLM.from_pretrained(BUNDLED_MODELS / GENERATOR, dtype=torch.float32).eval()
    result = ask(seed=SEED)
    inputs = tokenizer(TEXT, return_tensors="pt")
    ids = inputs["input_ids"].clone()
    shown = torch.tensor([tokenizer.convert_tokens_to_ids([token.shown for token in result.tokens])])
    inputs["input_ids"] = torch.cat([ids[:, :1], shown, ids[:, -1:]], 1)
    labels = (inputs["input_ids"] != ids).long()
    seen = torch.ones_like(ids)
    seen[0, [0, -1]] = 0  # the class leaves what is not attended to out of its loss
    with torch.no_grad():
        logits = discriminator(**inputs).logits[0, 1:-1]
        whole = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[0, 1:-1].float())
        assert [token.probability for token in result.tokens] == pytest.approx(logits.sigmoid().tolist(), abs=1e-5)
        assert result.loss == pytest.approx(float(whole), abs=1e-5)
        chosen = [token.position for token in result.chosen]
        targets = torch.full_like(ids, -100)
        targets[0, chosen] = ids[0, chosen]
        inputs["input_ids"] = ids.clone()
        inputs["input_ids"][0, chosen] = tokenizer.mask_token_id
        assert result.masked_loss == pytest.approx(float(generator(**inputs, labels=targets).loss), abs=1e-4)


def test_the_opening_draw_has_a_replaced_word_that_is_missed_and_one_that_is_caught(ask: Ask) -> None:
    """The generator is nearly right with one word and wrong with another: the first is missed, the second caught."""
    result = ask(OPENING, seed=SEED, temperature=TEMPERATURE)
    assert {token.verdict for token in result.tokens} == {"hit", "miss", "right"}
    assert len(result.of("hit")) == len(result.of("miss")) == 1


def test_no_rate_masks_nothing_and_the_whole_rate_all(ask: Ask) -> None:
    assert ask(rate=0).chosen == []
    assert ask(rate=0).masked_loss is None
    assert len(ask(rate=1).chosen) == len(ask().tokens)
    assert not any(token.shown == "[MASK]" for token in ask(rate=1, temperature=10).tokens)


def test_the_first_of_many_draws_is_the_one_draw_of_that_seed(resources: Resources, ask: Ask) -> None:
    one, alone = last(resources, draws=1, seed=SEED), ask(seed=SEED)
    scores, replaced = zip(*((token.probability, token.is_replaced) for token in alone.tokens), strict=True)
    assert one.auc == pytest.approx(roc_auc_score(replaced, scores), abs=1e-9)
    assert one.loss == pytest.approx(alone.loss, abs=1e-6)
    assert one.masked_loss == pytest.approx(alone.masked_loss, abs=1e-5)
    assert one.at_half[0] == len(alone.of("hit")) / sum(replaced)


def test_many_draws_add_up_whatever_is_drawn_at_once(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    together = last(resources, draws=5)
    monkeypatch.setattr("explorer.labs.replaced.jobs.AT_ONCE", 1)
    apart = last(resources, draws=5)
    assert replace(
        apart, **dict.fromkeys(("thresholds", "hits", "false_alarms", "auc", "aucs", "loss", "masked_loss"))
    ) == (
        replace(together, **dict.fromkeys(("thresholds", "hits", "false_alarms", "auc", "aucs", "loss", "masked_loss")))
    )
    assert apart.auc == pytest.approx(together.auc, abs=1e-3)
    assert apart.aucs == pytest.approx(together.aucs, abs=5e-3)
    assert (together.draws, together.chosen, together.tokens) == (5, 20, 5 * 28)
    assert together.hits[-1] == together.false_alarms[-1] == 1


def test_each_result_counts_the_draws_that_are_done(resources: Resources) -> None:
    params = DrawsParams(model=DISCRIMINATOR, text=" ".join([TEXT] * 12), draws=5)
    with torch.inference_mode():
        results = list(islice(replaced_draws(resources, params), 2))
    assert [result.draws for result in results] == [3, 5]
    assert {result.of for result in results} == {5}
    assert len(results[-1].thresholds) == 200


def test_without_warmth_an_easy_text_may_leave_nothing_to_find(resources: Resources) -> None:
    result = last(resources, rate=0, draws=2)
    assert (result.auc, result.replaced, result.masked_loss) == (None, 0, None)


def test_the_area_on_bundled_held_out_text_is_that_of_the_card(resources: Resources) -> None:
    """Eight sentences a row, about as many tokens as the card's rows have."""
    data = load("text", Settings(device="cpu", offline=True))
    texts = [example.text for example in data.validation["validation"]]
    rows = [" ".join(texts[first : first + 8]) for first in range(0, len(texts), 8)]
    scores, replaced = [], []
    with torch.inference_mode():
        for seed, row in enumerate(rows):
            result = replaced_tokens(resources, ReplacedParams(model=DISCRIMINATOR, text=row, seed=seed))
            scores += [token.probability for token in result.tokens]
            replaced += [token.is_replaced for token in result.tokens]
    kept = read_scores(BUNDLED_MODELS / DISCRIMINATOR)
    measure = kept.find("rtd_auc") if kept else None
    assert measure is not None
    assert len(scores) > 5_000
    assert roc_auc_score(replaced, scores) == pytest.approx(measure.value, abs=0.03)


@pytest.fixture
def discriminator(resources: Resources) -> LoadedModel:
    return resources.model(DISCRIMINATOR)


@torch.inference_mode()
def test_words_that_differ_count_as_replaced(discriminator: LoadedModel) -> None:
    result = replaced_by_hand(discriminator, HandParams("The cat sat on the mat.", "The dog sat on the mat."))
    assert [token.text for token in result.tokens if token.is_replaced] == ["dog"]
    dog = result.tokens[1]
    assert (dog.original, dog.shown, dog.was) == ("cat", "dog", "cat")
    same = replaced_by_hand(discriminator, HandParams("The cat sat on the mat.", "The cat sat on the mat."))
    assert not any(token.is_replaced for token in same.tokens)
    assert dog.before == pytest.approx(same.tokens[1].probability, abs=1e-6)


@torch.inference_mode()
@pytest.mark.parametrize(
    ("text", "shown", "replaced", "left_out"),
    [
        ("We left early.", "We left very early.", ["very"], 0),
        ("We left very early.", "We left early.", [], 1),
        ("We left early.", "We left.", [], 1),
        ("A cat sat.", "Untranslatable things sat.", ["Un", "trans", "lat", "able", "things"], 0),
    ],
)
def test_words_may_be_added_and_left_out(
    discriminator: LoadedModel, text: str, shown: str, replaced: list[str], left_out: int
) -> None:
    result = replaced_by_hand(discriminator, HandParams(text, shown))
    assert "".join(token.text for token in result.tokens if token.is_replaced) == "".join(replaced)
    assert result.left_out == left_out


def test_a_broken_phrase_is_caught_and_a_false_date_is_not(discriminator: LoadedModel) -> None:
    from explorer.labs.replaced.schema import BY_HAND

    with torch.inference_mode():
        found = {
            name: any(token.verdict == "hit" for token in replaced_by_hand(discriminator, HandParams(*texts)).tokens)
            for name, texts in BY_HAND.items()
        }
    assert found == {
        "The wrong thing": True,
        "The paper's example": False,
        "A false date": False,
        "The wrong kind of word": True,
        "Bad grammar": True,
        "Subtler grammar": False,
    }


@each_row(
    ("given", "said"),
    [
        ({"text": ""}, "Type a sentence first"),
        ({"text": "[SEP] [CLS]"}, "special tokens only"),
        ({"text": "word " * 600}, "tokens long"),
        ({"temperature": -1}, "temperature must be a number from 0 to 10"),
        ({"rate": 1.5}, "between 0 and 1"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"model": ""}, "Choose a discriminator"),
        ({"model": "google/electra-small-discriminator"}, "not on this machine"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(ask: Ask, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ExplorerError, match=said):
        ask(**given)


def test_a_model_without_the_head_says_so(ask: Ask) -> None:
    with pytest.raises(MissingCapabilityError, match="cannot detect replaced tokens") as raised:
        ask(model=GENERATOR)
    assert raised.value.capability == "RTD"


def test_a_discriminator_whose_name_tells_of_no_generator_says_so(ask: Ask, tmp_path: Any) -> None:
    folder = save(tmp_path / "judge", "ELECTRA discriminator")
    with pytest.raises(BadInputError, match="told by their names"):
        ask(model=str(folder))


def test_a_pair_of_two_vocabularies_is_refused(ask: Ask, tmp_path: Any) -> None:
    discriminator = save(tmp_path / "own-discriminator", "ELECTRA discriminator")
    (tmp_path / "own-generator").symlink_to(BUNDLED_MODELS / GENERATOR)
    with pytest.raises(BadInputError, match="different vocabularies"):
        ask(model=str(discriminator))
