"""A meaning put into words by the worked example, and where its heads look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import explorer
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.labs.generation import adapt as adapt_figures
from explorer.labs.generation import meaning_figures as figures
from explorer.labs.generation.meaning import (
    GENERATE,
    MEANING,
    TRY,
    VALUES,
    GenerateParams,
    GenerateResult,
    generate_table,
)
from explorer.runs.comparing import Compared
from explorer.runs.examples import BY_WRITER, WRITTEN
from explorer.settings import Settings
from explorer.tasks.formats.e2e import SLOTS, parse_meaning
from explorer.tasks.slots import Said
from tests.labs.drawing import assert_draws
from tests.rows import each_row


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> LocalEngine:
    return LocalEngine(Settings(data_folder=tmp_path_factory.mktemp("data"), device="cpu", offline=True))


def generated(engine: LocalEngine, **asked: Any) -> GenerateResult:
    job = GENERATE.source
    assert isinstance(job, Job)
    last: GenerateResult = engine.follow(job, GenerateParams(**asked)).last.result(120)
    return last


@pytest.fixture(scope="module")
def worked(engine: LocalEngine) -> GenerateResult:
    return generated(engine)


def test_the_worked_example_says_more_of_the_meaning_than_the_untouched_model(worked: GenerateResult) -> None:
    assert worked.done
    assert worked.untouched is not None
    best = min(len(one.missed) for one in worked.phrases)
    assert best <= 2
    assert best < len(worked.untouched.missed)


def test_attention_is_shared_out_among_slots_and_the_rest(worked: GenerateResult) -> None:
    looked = worked.attention
    assert looked is not None
    slots = [slot for slot, _ in worked.meaning]
    assert list(looked.columns) == [*slots, "slot names and signs", "written before"]
    assert len(looked.shares) == len(worked.phrases[0].row.tokens) == len(looked.tokens)
    for row in looked.shares:
        assert sum(row) == pytest.approx(1.0, abs=1e-5)
    assert looked.shares[0][-1] == 0, "nothing is written before the first token"


def test_one_seed_gives_one_text_whatever_stands_beside_it(engine: LocalEngine) -> None:
    both = generated(engine, decoding=("greedy", "top_p"), tokens=8)
    alone = generated(engine, decoding=("top_p",), tokens=8)
    assert both.phrases[1].text == alone.phrases[0].text


def test_the_untouched_model_can_be_asked_itself(engine: LocalEngine) -> None:
    last = generated(engine, run="", decoding=("greedy",), tokens=5)
    assert last.writer == "gpt2-mini"
    assert last.untouched is None
    assert len(last.phrases[0].row.tokens) == 5


def test_a_run_of_another_kind_says_which_to_take(engine: LocalEngine) -> None:
    with pytest.raises(BadInputError, match="Adapt GPT-2"):
        generated(engine, run="example-lora-8")


@each_row(
    ("tokens", "place", "word"),
    [
        ((" The", " K", "ett", "le", " is"), 2, "Kettle"),
        ((" The", " K", "ett", "le", " is"), 1, "Kettle"),
        ((" The", " K", "ett", "le"), 3, "Kettle"),
        ((" The", " K", "ett", "le"), 0, "The"),
        ((" K", "ett", "le", ".", " It"), 2, "Kettle"),
        ((" K", "ett", "le", ".", " It"), 3, "."),
        ((" £", "20", "-", "25", "."), 0, "£"),
        ((" £", "20", "-", "25", "."), 1, "20"),
        ((" isn", "'t", " far"), 0, "isn't"),
        ((" isn", "'t", " far"), 1, "isn't"),
        (("cheap",), 0, "cheap"),
        ((" a", " "), 1, ""),
    ],
)
def test_a_piece_is_named_by_its_whole_word(tokens: tuple[str, ...], place: int, word: str) -> None:
    assert figures._word_at(tokens, place) == word


def test_the_sentence_names_the_slot_and_the_word_of_the_largest_share(worked: GenerateResult) -> None:
    assert worked.attention is not None
    slots = len(worked.meaning)
    tokens = (" The", " K", "ett", "le", ".")
    columns = worked.attention.columns
    shares = tuple(
        tuple(0.5 if (place, column) == (2, 0) else 0.0 for column in range(len(columns)))
        for place in range(len(tokens))
    )
    looked = replace(worked, attention=replace(worked.attention, tokens=tokens, shares=shares))
    said = figures.attention_sentence(looked).striptags()
    assert said.startswith("Greedy: 10.0% of the attention goes to the slots' values; the largest share, 50.0%, ")
    assert said.endswith(f"goes to the {columns[0]} while it writes “Kettle”.")
    assert "and to what is written already." in figures.attention_notes(looked)
    assert "virtual" not in figures.attention_notes(looked)
    prefixed = replace(worked.attention, columns=(*columns, "virtual tokens"))
    assert "to the virtual tokens." in figures.attention_notes(replace(looked, attention=prefixed))
    assert figures.attention_notes(replace(worked, attention=None)) == ""
    assert slots + 2 == len(columns)


def test_figures_draw_the_result_and_its_beginning(worked: GenerateResult) -> None:
    assert_draws(figures.attention_figure(worked))
    begun = replace(worked, done=False, attention=None, phrases=tuple(replace(one, slots=()) for one in worked.phrases))
    assert figures.attention_figure(begun) == ""
    assert "token" in figures.generate_sentence(begun)
    assert figures.generate_notes(begun) == ""
    assert "missed" in figures.texts_view(worked)
    assert len(generate_table(worked).rows) == len(worked.phrases) + 1


def test_the_sentence_says_what_the_best_text_says_and_the_notes_how_many(worked: GenerateResult) -> None:
    first, *others = worked.phrases
    missed, *added = (Said("food", "Thai", state) for state in ("missed", "invented", "invented"))
    full = (replace(first, slots=()), *(replace(one, slots=(missed,)) for one in others))
    whole = replace(worked, phrases=full)
    said = figures.generate_sentence(whole).striptags()
    assert said == f"{worked.writer} says all of the meaning and nothing else by greedy."
    notes = figures.generate_notes(whole)
    assert f"nothing else: 1 of {len(full)} texts. " in notes
    assert notes in figures.texts_view(whole)
    asked = len(worked.meaning)
    poor = replace(worked, phrases=tuple(replace(one, slots=(missed, *added)) for one in worked.phrases))
    said = figures.generate_sentence(poor).striptags()
    assert said == f"{worked.writer} says {asked - 1} of {asked} slots by greedy, and something that nobody asked for."
    assert "Nobody asked for 2 things in it. " in figures.generate_notes(poor)


def test_the_editor_knows_all_slots_and_its_examples_are_meanings() -> None:
    assert tuple(VALUES) == SLOTS
    for text in (MEANING, *TRY.values()):
        assert parse_meaning(text)


def test_the_worked_runs_gain_twenty_bleu_and_stand_beside_the_paper(engine: LocalEngine) -> None:
    records = tuple(engine.runs.get(name) for name in BY_WRITER)
    lora = records[list(BY_WRITER).index(WRITTEN)]
    assert (lora.score or 0) - (dict(lora.evaluations)[0]["BLEU"] or 0) > 20
    assert_draws(adapt_figures.adapt_figure(Compared(records)))
    view = adapt_figures.metrics_view(Compared(records))
    assert "untouched" in view
    assert "70.4" in adapt_figures.paper_view()
    assert "mean of" not in view
    best = max(records, key=lambda record: record.score or 0)
    again = replace(best, run_id="again", spec=replace(best.spec, seed=1))
    repeated = Compared((*records, again))
    assert "mean of 2 seeds" in adapt_figures.metrics_view(repeated).striptags()
    assert "mean of 2 seeds" not in adapt_figures.adapt_sentence(repeated).striptags()
    assert ", mean of 2 ± s.d." in adapt_figures.metrics_view(repeated)
    assert len(adapt_figures.adapt_figure(repeated)["data"]) == len(
        adapt_figures.adapt_figure(Compared(records))["data"]
    )  # type: ignore[call-overload]


def test_its_five_metrics_are_those_of_the_scorer(engine: LocalEngine) -> None:
    from explorer.tasks.generation_metrics import score

    record = engine.runs.get(WRITTEN)
    assert record.outcome is not None
    judged = record.outcome.judged
    assert len(judged) == record.outcome.rows["validation"] == 68
    found = score([one.said for one in judged], [one.right for one in judged]).named()
    assert found == pytest.approx({name: record.outcome.metrics["validation"][name] for name in found})


def test_without_a_server_it_is_a_table() -> None:
    table = explorer.run("generate", model="gpt2-mini", decoding=("greedy",), tokens=3).table
    assert list(table.columns) == ["writer", "decoding", "text", "surprisal", "missed", "invented"]
