"""A run as a writer: a meaning put into words by several decodings, a token a turn, and where its heads look at the slots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.generation.continued import ContinueParams, ContinueResult, Row
from explorer.labs.generation.continued_compute import Beginning, Reader
from explorer.labs.generation.continued_jobs import continued
from explorer.labs.generation.meaning import GenerateParams, GenerateResult, Phrase, SlotAttention
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.formats.e2e import ASKS, parse_meaning, spelled
from explorer.tasks.slots import check_slots
from explorer.tasks.task import WRITTEN
from explorer.tuning.adapted import Adapted
from explorer.tuning.writing import opening_of, text_of

REST = "slot names and signs"
BEFORE = "written before"
VIRTUAL = "virtual tokens"


def restored(resources: Resources, run_id: str) -> tuple[str, Adapted]:
    """Return a writer's name and its model. Raises BadInputError for a run that writes nothing, or has no weights yet."""
    run = resources.open_run(run_id)
    if run.record.kind != WRITTEN:
        raise BadInputError(
            f"{run.record.name} has not learned to put meanings into words. Choose a run of the E2E task, or train one on the "
            "tab Adapt GPT-2."
        )
    run.require_weights()
    return run.record.short_name, run.restore()


def reader_of(adapted: Adapted) -> Reader:
    """Return the run's own model as a reader, its virtual tokens read already."""
    opening = opening_of(adapted)
    return Reader(loaded_of(adapted), (opening.cache, opening.length))


def loaded_of(adapted: Adapted) -> LoadedModel:
    """Return the run's model as any other that continues a text."""
    return replace(adapted.loaded, model=adapted.fork)


def prompt_of(meaning: Sequence[tuple[str, str]]) -> str:
    """Return the text that the model goes on with."""
    return spelled(meaning) + ASKS


@torch.no_grad()
def attention_to_slots(
    adapted: Adapted, meaning: Sequence[tuple[str, str]], beginning: Beginning, row: Row
) -> SlotAttention:
    """Share out the attention of each written token's place: slot by slot, and the rest.

    The place that a token is predicted from is the one before it. Mean over layers and heads.
    """
    written = [token.token_id for token in row.tokens]
    ids = torch.tensor([[*beginning.ids, *written]], device=adapted.loaded.device)
    opening, tree = opening_of(adapted), private_tree(adapted.fork)
    output = tree(input_ids=ids, past_key_values=opening.cache, output_attentions=True)
    mean = torch.stack(output.attentions).float().mean((0, 2))[0]  # (layers, 1, heads, n, n) to (n, n)
    start = len(beginning.ids)
    rows = mean[start - 1 : start - 1 + len(written)].cpu()  # (written, virtual + n)
    text = rows[:, opening.length :]  # (written, n)
    places = _places(adapted.loaded, meaning, start)
    columns = {slot: text[:, inside].sum(-1) for slot, inside in places.items()}
    taken = sorted({place for inside in places.values() for place in inside})
    others = [place for place in range(start) if place not in set(taken)]
    columns |= {REST: text[:, others].sum(-1), BEFORE: text[:, start:].sum(-1)}
    if opening.length:
        columns[VIRTUAL] = rows[:, : opening.length].sum(-1)
    shares = torch.stack(list(columns.values()), dim=-1).tolist()
    spelled_tokens = tuple(("" if token.joined else " ") + token.text for token in row.tokens)
    return SlotAttention(spelled_tokens, tuple(columns), tuple(map(tuple, shares)))


def _places(loaded: LoadedModel, meaning: Sequence[tuple[str, str]], length: int) -> dict[str, list[int]]:
    """Return the positions of each slot's value."""
    text = prompt_of(meaning)
    offsets = loaded.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    found, start = {}, 0
    for slot, value in meaning:
        start = text.index(f"{slot} : {value}", start) + len(slot) + 3  # 3: " : " between slot and value
        stop = start + len(value)
        found[slot] = [
            place
            for place, (first, last) in enumerate(offsets[:length])
            if last > start and first < stop and last > first  # a token without characters is of no slot
        ]
        start = stop
    return found


def generate(resources: Resources, params: GenerateParams) -> Iterator[GenerateResult]:
    """Say a meaning in words by several decodings, in one batch; a result a token.

    At the end what each says of the meaning, and where the first one looked. The model before any training is asked besides,
    greedily. Raises BadInputError for a run that has not learned to write.
    """
    meaning = parse_meaning(params.meaning)
    if not params.run:
        asked = params.of_text(params.model, prompt_of(meaning))
        for result in continued(Reader(resources.model(params.model)), asked):
            yield _result(params, params.model, meaning, result, None, None)
        return
    name, adapted = restored(resources, params.run)
    asked = params.of_text(name, prompt_of(meaning))
    before = resources.once(("untouched", asked.text, asked.tokens), lambda: _untouched(adapted, asked))
    for result in continued(reader_of(adapted), asked):
        yield _result(params, name, meaning, result, before, adapted)


def _untouched(adapted: Adapted, asked: ContinueParams) -> ContinueResult:
    """Let the model write as it was before the run."""
    plain = replace(asked, model=adapted.loaded.model_id, decoding=("greedy",))
    *_, last = continued(Reader(adapted.loaded), plain)
    return last


def _result(
    params: GenerateParams,
    name: str,
    meaning: tuple[tuple[str, str], ...],
    result: ContinueResult,
    before: ContinueResult | None,
    adapted: Adapted | None,
) -> GenerateResult:
    loaded = None if adapted is None else loaded_of(adapted)

    def phrase(writer: str, row: Row, done: bool) -> Phrase:
        text = _spelled(row) if loaded is None else text_of(loaded, [token.token_id for token in row.tokens])
        return Phrase(writer, row, text, check_slots(meaning, text) if done else ())

    looked = None
    if result.done and adapted is not None and result.rows[0].tokens:
        beginning = Reader(adapted.loaded).begin(result.text, ())
        looked = attention_to_slots(adapted, meaning, beginning, result.rows[0])
    return GenerateResult(
        params.run,
        name,
        meaning,
        params,
        tuple(phrase(name, row, result.done) for row in result.rows),
        None if before is None else phrase(before.model, before.rows[0], True),
        result.steps,
        result.of,
        result.done,
        looked,
    )


def _spelled(row: Row) -> str:
    return "".join(token.text if token.joined else f" {token.text}" for token in row.tokens).strip()
