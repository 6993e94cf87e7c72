"""A meaning put into words by several decodings at once, a result a token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.engine.resources import Resources
from explorer.labs.generation.continued.compute import Reader
from explorer.labs.generation.continued.jobs import continued
from explorer.labs.generation.continued.schema import ContinueParams, ContinueResult, Row
from explorer.labs.generation.meaning.compute import (
    attention_to_slots,
    loaded_of,
    prompt_of,
    reader_of,
    restored,
)
from explorer.labs.generation.meaning.schema import GenerateParams, GenerateResult, Phrase
from explorer.tasks.formats.e2e import parse_meaning
from explorer.tasks.slots import check_slots
from explorer.tuning.adapted import Adapted
from explorer.tuning.writing import text_of


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
