"""Continuations against transformers' own `generate`, against passes without a cache, and against their invariants."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from explorer.engine.resources import Resources
from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.generation.continued import (
    DECODINGS,
    WRITER,
    ContinueParams,
    ContinueResult,
    NextParams,
    NextResult,
    Row,
)
from explorer.labs.generation.continued_jobs import continue_text, next_token
from explorer.lru_cache import LRUCache
from explorer.models.families import by_family
from explorer.models.loaded_model import LoadedModel, ModelStore
from explorer.settings import Settings
from tests.models.tiny import build, byte_level
from tests.rows import each_row

TEXT = "The king of Spain was born in"
NEVER = [1, 3]
"""gpt2-mini's <pad> and <unk>; its end of text is 2."""


@pytest.fixture(scope="module")
def resources() -> Resources:
    store = ModelStore(Settings(device="cpu", offline=True))

    def none() -> Any:
        raise AssertionError("no run and no tokenizer is asked for")

    return Resources(store.get, none, none, LRUCache(1), "")


@pytest.fixture(scope="module")
def writer(resources: Resources) -> LoadedModel:
    return resources.model(WRITER)


@pytest.fixture(scope="module")
def restless(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of a few bytes that likes to end its texts."""
    folder = tmp_path_factory.mktemp("models") / "restless"
    tokenizer = byte_level()
    model = build(by_family("GPT-2"), vocab_size=len(tokenizer), n_positions=64, eos_token_id=2, bos_token_id=0)
    with torch.no_grad():
        model.transformer.wte.weight *= 8
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer.backend_tokenizer, eos_token="</s>", unk_token="<unk>", model_max_length=64
    ).save_pretrained(folder)
    return str(folder)


Ask = Callable[..., ContinueResult]


@pytest.fixture(scope="module")
def ask(resources: Resources) -> Ask:
    @torch.inference_mode()
    def asked(text: str = TEXT, **given: Any) -> ContinueResult:
        *_, last = continue_text(resources, ContinueParams(**{"text": text, **given}))
        return last

    return asked


@pytest.fixture(scope="module")
def everything(ask: Ask) -> ContinueResult:
    """All five decodings, 30 tokens."""
    return ask(tokens=30)


def ids_of(row: Row) -> list[int]:
    return [token.token_id for token in row.tokens]


def row_of(result: ContinueResult, decoding: str) -> Row:
    return next(row for row in result.rows if row.decoding == decoding)


@torch.inference_mode()
def generated(loaded: LoadedModel, ids: list[int], **options: Any) -> tuple[list[int], float]:
    """What transformers writes after some ids, and the score of its best beam."""
    start = torch.tensor([ids])
    never = sorted({*loaded.tokenizer.all_special_ids} - {loaded.tokenizer.eos_token_id})
    given = {"do_sample": False, "pad_token_id": 2, "suppress_tokens": never or None, "length_penalty": 0.0, **options}
    model: GPT2LMHeadModel = loaded.model  # type: ignore[assignment]
    found = model.generate(
        start, attention_mask=torch.ones_like(start), return_dict_in_generate=True, output_scores=True, **given
    )
    new = found.sequences[0, len(ids) :].tolist()
    score = float(found.sequences_scores[0]) if given.get("num_beams", 1) > 1 else math.nan
    return (new[: new.index(2)] if 2 in new else new), score


def test_greedy_writes_what_transformers_writes(everything: ContinueResult, writer: LoadedModel) -> None:
    expected, _ = generated(writer, writer.tokenizer(TEXT)["input_ids"], max_new_tokens=30)
    assert ids_of(row_of(everything, "greedy")) == expected
    assert len(expected) == 30


@pytest.mark.parametrize("beams", [2, 5])
def test_beam_search_finds_what_transformers_finds(ask: Ask, writer: LoadedModel, beams: int) -> None:
    expected, score = generated(writer, writer.tokenizer(TEXT)["input_ids"], max_new_tokens=20, num_beams=beams)
    row = row_of(ask(tokens=20, decoding="beam", beams=beams), "beam")
    assert ids_of(row) == expected
    assert row.score == pytest.approx(score, abs=1e-3)


@each_row("text", ["the cat", "a hat", "Then", "z!"])
@each_row("beams", [1, 3])
def test_beams_that_end_are_ranked_as_transformers_ranks_them(
    ask: Ask, resources: Resources, restless: str, text: str, beams: int
) -> None:
    loaded = resources.model(restless)
    with torch.no_grad():
        row = row_of(ask(text, model=restless, tokens=12, decoding=("beam", "greedy"), beams=beams), "beam")
    expected, score = generated(loaded, loaded.tokenizer(text)["input_ids"], max_new_tokens=12, num_beams=beams)
    assert ids_of(row) == expected
    assert beams == 1 or row.score == pytest.approx(score, abs=1e-3)


def test_a_beam_of_one_is_greedy_and_more_beams_find_no_less(ask: Ask) -> None:
    rows = [row_of(ask(tokens=15, decoding="beam", beams=beams), "beam") for beams in (1, 4)]
    assert ids_of(rows[0]) == ids_of(row_of(ask(tokens=15, decoding="greedy"), "greedy"))
    assert rows[1].score >= rows[0].score - 1e-6


@torch.inference_mode()
def test_probabilities_and_ranks_are_those_of_a_pass_without_a_cache(
    everything: ContinueResult, writer: LoadedModel
) -> None:
    prompt = writer.tokenizer(TEXT)["input_ids"]
    for row in everything.rows:
        ids = torch.tensor([[*prompt, *ids_of(row)]])
        told = writer.model(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        own = told.gather(1, torch.tensor(ids_of(row))[:, None])
        assert [token.log_probability for token in row.tokens] == pytest.approx(own.squeeze(1).tolist(), abs=1e-3)
        assert [token.rank for token in row.tokens] == pytest.approx(((told > own).sum(-1) + 1).tolist(), rel=0.02)
        assert row.surprisal == pytest.approx(-float(own.mean()), abs=1e-3)


def test_each_decoding_keeps_to_what_it_allows(everything: ContinueResult, ask: Ask) -> None:
    assert {token.rank for token in row_of(everything, "greedy").tokens} == {1}
    assert max(token.rank for token in row_of(everything, "top_k").tokens) <= 40
    cold = ask(tokens=10, k=1, p=0.001, temperature=0)
    texts = {tuple(ids_of(row)) for row in cold.rows if row.decoding != "beam"}
    assert len(texts) == 1, "each at its end is greedy"
    plain = ask(tokens=10, k=1000, p=1.0, temperature=1.0, decoding=("top_p", "temperature"))
    assert ids_of(plain.rows[0]) == ids_of(plain.rows[1]), "the same random numbers"


def test_a_row_depends_on_the_seed_and_not_on_the_rows_beside_it(everything: ContinueResult, ask: Ask) -> None:
    alone, other = ask(tokens=30, decoding="top_p"), ask(tokens=30, decoding="top_p", seed=1)
    assert ids_of(alone.rows[0]) == ids_of(row_of(everything, "top_p")) != ids_of(other.rows[0])
    assert [row.decoding for row in ask(decoding="temperature, greedy", tokens=1).rows] == ["greedy", "temperature"]


def test_results_come_token_by_token(resources: Resources) -> None:
    with torch.inference_mode():
        found = list(continue_text(resources, ContinueParams(text=TEXT, tokens=5, decoding=("greedy", "top_k"))))
    assert [len(result.rows[1].tokens) for result in found] == [1, 2, 3, 4, 5]
    assert [result.done for result in found] == [False] * 4 + [True]
    for earlier, later in pairwise(found):
        assert later.rows[1].tokens[:-1] == earlier.rows[1].tokens
    second = found[1].next
    assert second.branch == (found[0].rows[1].tokens[0].token_id,)
    assert second.written is not None
    assert second.written.token_id == found[1].rows[1].tokens[1].token_id
    assert found[-1].next.branch == (), "at the end the place where all begin"


def test_a_branch_goes_on_from_the_very_tokens(everything: ContinueResult, ask: Ask, writer: LoadedModel) -> None:
    branch = [*ids_of(row_of(everything, "top_p"))[:6], 262]
    result = ask(tokens=8, branch=branch, decoding=("greedy", "beam"))
    for row in result.rows:
        assert [token.by_hand for token in row.tokens] == [True] * 7 + [False] * 8
        assert ids_of(row)[:7] == branch
    expected, _ = generated(writer, [*writer.tokenizer(TEXT)["input_ids"], *branch], max_new_tokens=8)
    assert [token.token_id for token in row_of(result, "greedy").own] == expected
    before = row_of(everything, "top_p").tokens[:6]
    told = [token.log_probability for token in result.rows[0].tokens[:6]]
    assert told == pytest.approx([token.log_probability for token in before], abs=1e-3)
    assert result.rows[0].score == pytest.approx(math.fsum(token.log_probability for token in result.rows[0].own))
    assert ask(tokens=2, branch=" ".join(map(str, branch)), decoding="greedy").asked.branch == tuple(branch)


def test_the_end_of_the_text_ends_a_row_and_special_tokens_are_never_written(
    ask: Ask, restless: str, resources: Resources
) -> None:
    special = set(resources.model(restless).tokenizer.all_special_ids)
    ended = 0
    for seed in range(6):
        result = ask("the cat", model=restless, tokens=40, temperature=1.5, seed=seed)
        for row in result.rows:
            assert not special & set(ids_of(row))
            assert (row.ended is not None) == (len(row.tokens) < 40)
            ended += row.ended is not None
    assert ended
    assert not set(NEVER) & set(ids_of(row_of(ask(tokens=40, temperature=10.0, decoding="temperature"), "temperature")))


def test_a_row_stops_where_the_model_has_no_more_room(ask: Ask, writer: LoadedModel) -> None:
    text = "the " * 118
    length = len(writer.tokenizer(text.strip())["input_ids"])
    result = ask(text, tokens=60, decoding="greedy")
    assert (result.of, result.room) == (128 - length, 128 - length)
    assert len(result.rows[0].tokens) + length == 128
    with pytest.raises(BadInputError, match="no room is left"):
        ask("the " * 128, tokens=1)


def test_spaces_at_the_end_are_no_token(everything: ContinueResult, ask: Ask) -> None:
    assert ids_of(ask(f"{TEXT}  ", tokens=30, decoding="greedy").rows[0]) == ids_of(row_of(everything, "greedy"))


@each_row(
    ("given", "said"),
    [
        ({"decoding": "magic"}, "greedy, beam, top_k, top_p, temperature"),
        ({"decoding": ()}, "at least one"),
        ({"tokens": 0}, "from 1 to 60"),
        ({"p": 0}, "above 0 to 1"),
        ({"k": "many"}, "from 1 to 1,000"),
        ({"branch": "the"}, "whole number"),
        ({"branch": {"a": 1}}, "token ids"),
        ({"branch": [10**6]}, "no token that gpt2-mini writes"),
        ({"branch": [2]}, "without the special ones"),
        ({"text": "  "}, "Type a sentence"),
        ({"temperature": math.nan}, "from 0 to 10"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(ask: Ask, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        ask(**given)


def test_a_model_that_fills_blanks_cannot(ask: Ask, tiny_model: str) -> None:
    with pytest.raises(MissingCapabilityError, match="cannot continue a text"):
        ask(model=tiny_model)


class TestNextToken:
    @pytest.fixture(scope="class")
    def look(self, resources: Resources) -> Callable[..., NextResult]:
        @torch.inference_mode()
        def asked(**given: Any) -> NextResult:
            return next_token(resources, NextParams(**{"text": TEXT, **given}))

        return asked

    @torch.inference_mode()
    def test_it_is_the_models_distribution(self, look: Callable[..., NextResult], writer: LoadedModel) -> None:
        found = look(k=7, p=0.3, temperature=2.0)
        logits = writer.model(torch.tensor([writer.tokenizer(TEXT)["input_ids"]])).logits[0, -1].double()
        shares, order = logits.softmax(-1).sort(descending=True)
        assert [one.token_id for one in found.top] == order[:15].tolist()
        assert [one.probability for one in found.top] == pytest.approx(shares[:15].tolist(), abs=1e-5)
        assert found.entropy == pytest.approx(float(-(shares * shares.log()).sum()), abs=1e-3)
        assert [one.in_top_k for one in found.top] == [True] * 7 + [False] * 8
        assert found.top_k == (7, pytest.approx(float(shares[:7].sum()), abs=1e-5))
        count = int((shares.cumsum(-1) < 0.3).sum()) + 1
        assert found.top_p == (count, pytest.approx(float(shares[:count].sum()), abs=1e-5))
        assert [one.in_top_p for one in found.top] == [one.rank <= count for one in found.top]
        warm = (logits / 2).softmax(-1)
        assert [one.tempered for one in found.top] == pytest.approx(warm[order[:15]].tolist(), abs=1e-4)
        assert found.mass == pytest.approx([float(shares[:rank].sum()) for rank in found.ranks], abs=1e-4)
        assert (found.ranks[0], found.ranks[-1], found.mass[-1]) == (1, len(shares), pytest.approx(1, abs=1e-4))

    @each_row("decoding", list(DECODINGS))
    def test_what_is_allowed_is_the_decodings_own(self, look: Callable[..., NextResult], decoding: str) -> None:
        found = look(decoding=decoding, k=3, p=0.2)
        kept = {"greedy": 1, "top_k": 3, "top_p": found.top_p[0]}.get(decoding, 15)
        assert [one.allowed for one in found.top] == [one.rank <= kept for one in found.top]

    def test_a_pressed_token_is_told_with_its_rank(self, look: Callable[..., NextResult], ask: Ask) -> None:
        row = ask(tokens=12, decoding="top_p").rows[0]
        token = row.tokens[9]
        found = look(branch=ids_of(row)[:9], chosen=token.token_id)
        assert found.written is not None
        assert (found.written.token_id, found.written.text) == (token.token_id, token.text)
        assert found.written.rank == pytest.approx(token.rank, rel=0.02)
        assert found.written.probability == pytest.approx(token.probability, rel=1e-3)
        assert found.context.startswith("…")
        with pytest.raises(BadInputError, match="chosen takes the id"):
            look(chosen=1)
