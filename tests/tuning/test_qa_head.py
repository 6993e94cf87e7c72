"""Answers in a text: what is read of a question and its windows, what is learned of it, and which span is the best."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
import torch
from torch.nn.functional import cross_entropy
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

from explorer.errors import BadInputError
from explorer.models.families import ARCHITECTURES, Architecture
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.formats.squad import SQUAD
from explorer.tasks.task import NO_ANSWER, SPAN, Example, TaskData
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.files.export import export_adapter, export_merged
from explorer.tuning.kinds import find_kind
from explorer.tuning.merging import merged
from explorer.tuning.methods import METHODS, find_method
from explorer.tuning.plan import plan
from explorer.tuning.qa_head import (
    CANDIDATES,
    Found,
    SpanRows,
    SpanTraining,
    answer_of,
    best_spans,
    rows_of,
    scores_of,
    text_of,
)
from explorer.tuning.spec import RunSpec
from tests.rows import each_row
from tests.tuning.files.kept import record, unpacked
from tests.tuning.files.test_export import run_here
from tests.tuning.samples import tiny_loaded

CONTEXT = "the cat sat on a mat . the dog sat ."
READING = [entry for entry in ARCHITECTURES if entry.finds_answers and not entry.layers.reads_last]
EVERY_FAMILY = pytest.mark.parametrize("architecture", READING, ids=lambda entry: entry.family)
LEARNING = [method.slug for method in METHODS if not (method.is_student or method.fills_masks)]


def asked(answer: str, question: str = "the cat", context: str = CONTEXT) -> Example:
    """The first place of an answer in the context; no answer where it is empty."""
    return Example(question, context, context.index(answer) if answer else NO_ANSWER, (answer,) if answer else ())


def questions(count: int, seed: int) -> tuple[Example, ...]:
    """What sat: the word before it is the answer; a text in which nothing sat has none."""
    draw, made = Random(seed), []
    for number in range(count):
        filler = [draw.choice(("the", "on", "a", ".")) for _ in range(draw.randint(2, 6))]
        who, place = draw.choice(("cat", "mat")), draw.randint(0, len(filler))
        said = [] if number % 4 == 3 else [who, "sat"]
        context = " ".join([*filler[:place], *said, *filler[place:]])
        made.append(asked(who if said else "", "the sat", context))
    return tuple(made)


def span_data(train: int = 32, held_out: int = 16) -> TaskData:
    return TaskData(SQUAD, "squad", questions(train, 1), {"validation": questions(held_out, 2)})


def training_of(loaded: LoadedModel, spec: RunSpec, data: TaskData | None = None) -> SpanTraining:
    data = data or span_data()
    adapted = adapt(loaded, 1, spec, SPAN)
    train, held_out = (rows_of(loaded, part, adapted.longest) for part in (data.train, data.validation["validation"]))
    return SpanTraining(adapted, SQUAD, train, held_out, spec, spec.learning_rate or 1e-2)


def of_method(method: str = "lora", **options: object) -> RunSpec:
    return RunSpec("tiny", "squad", method, prefix_length=3, **{"epochs": 2, "batch_size": 8, **options})  # type: ignore[arg-type]


@EVERY_FAMILY
def test_a_row_is_what_the_familys_tokenizer_makes_of_the_pair(architecture: Architecture) -> None:
    loaded = tiny_loaded(architecture.family)
    example = asked("a mat")
    rows = rows_of(loaded, [example], 64)
    whole = loaded.tokenizer(example.text, example.second)
    for name in set(rows.inputs[0]) - {CANDIDATES}:
        assert rows.inputs[0][name] == whole[name]
    inside = [sequence == 1 for sequence in whole.sequence_ids()]
    assert rows.inputs[0][CANDIDATES] == [1, *map(int, inside[1:])]
    assert text_of(rows, 0, *rows.spans[0].tolist()).strip() == "a mat"


def test_no_answer_is_the_first_token() -> None:
    rows = rows_of(tiny_loaded("BERT"), [asked("")], 64)
    assert rows.spans.tolist() == [[0, 0]]


class TestWindows:
    EXAMPLE = asked("dog", context="the cat sat . " * 6 + "the dog sat .")

    @pytest.fixture
    def rows(self) -> SpanRows:
        return rows_of(tiny_loaded("BERT"), [asked("cat"), self.EXAMPLE], 16)

    def test_a_long_text_is_read_in_windows_that_overlap(self, rows: SpanRows) -> None:
        windows = [place for place, number in enumerate(rows.labels.tolist()) if number == 1]
        assert len(windows) > 2
        assert all(len(rows.inputs[place]["input_ids"]) <= 16 for place in windows)
        spans = []
        for place in windows:
            inside = [n for n, one in enumerate(rows.inputs[place][CANDIDATES]) if one and n]
            spans.append((rows.places[place][inside[0], 0], rows.places[place][inside[-1], 1]))
        assert spans[0][0] == 0
        assert spans[-1][1] == len(self.EXAMPLE.second or "")
        assert all(later[0] < earlier[1] for earlier, later in pairwise(spans))

    def test_the_answer_is_learned_where_it_stands_and_elsewhere_there_is_none(self, rows: SpanRows) -> None:
        found = {
            text_of(rows, place, *span)
            for place, span in enumerate(rows.spans.tolist())
            if rows.labels[place] == 1 and any(span)
        }
        assert found == {"dog"}
        assert any(not any(span) for span in rows.spans.tolist())

    def test_the_same_windows_as_transformers_own_recipe(self, rows: SpanRows) -> None:
        loaded = tiny_loaded("BERT")
        tokenizer = AutoTokenizer.from_pretrained(loaded.model_id)
        question = len(tokenizer(self.EXAMPLE.text, add_special_tokens=False)["input_ids"])
        whole = tokenizer(
            self.EXAMPLE.text, self.EXAMPLE.second, truncation="only_second", max_length=16,
            stride=(16 - 3 - question) // 2, return_overflowing_tokens=True,
        )  # fmt: skip
        ours = [one["input_ids"] for one, number in zip(rows.inputs, rows.labels.tolist(), strict=True) if number == 1]
        assert ours == whole["input_ids"]

    def test_of_all_windows_the_best_span_counts_and_the_lowest_score_of_no_answer(self, rows: SpanRows) -> None:
        place = next(place for place, span in enumerate(rows.spans.tolist()) if rows.labels[place] == 1 and any(span))
        start, end = rows.spans[place].tolist()
        right, other = (Found(start, end, 2.0, 1.0), place), (Found(start, end, 1.0, 9.0), place - 1)
        assert answer_of(rows, [right, other]) == "dog"
        assert answer_of(rows, [other, (replace(right[0], null=2.5), place)]) == ""

    def test_a_question_that_fills_the_row_is_cut_and_counted(self) -> None:
        rows = rows_of(tiny_loaded("BERT"), [asked("cat", question="the cat sat on a mat . " * 20)], 64)
        assert rows.cut == 1
        assert all(len(one["input_ids"]) <= 64 for one in rows.inputs)


def test_the_best_span_is_the_best_of_all_that_are_allowed() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 12, 2, generator=draw)
    scores[:, [1, 2, 11]] = -math.inf
    for row, found in zip(scores.tolist(), best_spans(scores, longest=3), strict=True):
        allowed = {(i, j): row[i][0] + row[j][1] for i in range(1, 12) for j in range(i, min(12, i + 3))}
        best = max(allowed, key=lambda pair: allowed[pair])
        assert (found.start, found.end) == best
        assert (found.score, found.null) == pytest.approx((allowed[best], sum(row[0])))


@torch.no_grad()
def test_the_loss_is_the_mean_of_the_starts_and_the_ends() -> None:
    training = training_of(tiny_loaded("BERT"), of_method())
    rows = training.train_rows
    terms = []
    for place in range(4):
        inputs, _ = rows.batch([place], training.device)
        allowed = torch.tensor(rows.inputs[place][CANDIDATES]).bool()
        output = training.adapted.model(**training.adapted.taken(inputs))
        for logits, target in zip((output.start_logits, output.end_logits), rows.spans[place], strict=True):
            kept = logits[0].masked_fill(~allowed, -math.inf)
            terms.append(cross_entropy(kept[None], target[None]))
    assert float(training._batch_loss([0, 1, 2, 3])) == pytest.approx(float(torch.stack(terms).mean()), abs=0.02)


@each_row("method", LEARNING)
def test_every_method_learns_which_word_it_is(method: str) -> None:
    training = training_of(tiny_loaded("BERT"), of_method(method, epochs=4))
    shape = scores_of(training.adapted, training.train_rows.batch([0], training.device)[0]).shape
    assert shape == (1, len(training.train_rows.inputs[0]["input_ids"]), 2), "virtual tokens are no candidates"
    first = training.held_out_scores()
    losses = [update.loss for update in training.updates()]
    assert sum(losses[-4:]) < sum(losses[:4])
    assert set(first) == {"f1", "exact_match"}


@EVERY_FAMILY
def test_every_family_trains_and_is_measured(architecture: Architecture) -> None:
    training = training_of(tiny_loaded(architecture.family), of_method(epochs=1))
    last = list(training.updates())[-1]
    assert math.isfinite(last.loss)
    assert last.metrics is not None
    scores, judged = training.judge(training.held_out)
    assert scores["f1"] == pytest.approx(sum(one.score or 0.0 for one in judged) / len(judged))
    assert len(judged) == 16


def test_full_fine_tuning_finds_most_answers() -> None:
    training = training_of(tiny_loaded("BERT"), of_method("full", epochs=30, learning_rate=3e-3), span_data(64, 32))
    untrained = training.held_out_scores()["f1"] or 0.0
    list(training.updates())
    assert (training.held_out_scores()["f1"] or 0.0) > max(0.6, untrained)


def test_a_run_goes_on_where_it_was() -> None:
    whole, first = (training_of(tiny_loaded("BERT"), of_method()) for _ in range(2))
    losses = [update.loss for update in whole.updates()]
    for _, _ in zip(range(3), first.updates(), strict=False):
        pass
    second = training_of(tiny_loaded("BERT"), of_method())
    second.load_state(first.state())
    assert [update.loss for update in second.updates()] == pytest.approx(losses[3:], abs=1e-5)


class TestRefusals:
    def test_a_model_that_reads_from_the_left_alone(self) -> None:
        with pytest.raises(BadInputError, match="reads from left to right"):
            adapt(tiny_loaded("GPT-2"), 1, of_method(), SPAN)

    @pytest.mark.parametrize("method", ["distill", "distill_text"])
    def test_students(self, method: str) -> None:
        refused = find_kind(SPAN).refuses(find_method(method), tiny_loaded("BERT").architecture)
        assert refused is not None
        assert refused.startswith("a student learns")

    def test_it_has_no_classes(self) -> None:
        adapted = adapt(tiny_loaded("BERT"), 1, of_method(), SPAN)
        with pytest.raises(BadInputError, match="finds answers in a text"):
            adapted.logits({"input_ids": torch.ones(1, 4, dtype=torch.long)})


def trained(method: str = "lora") -> Adapted:
    training = training_of(tiny_loaded("BERT"), of_method(method))
    list(training.updates())
    return training.adapted


def test_merged_it_scores_the_same_and_transformers_opens_it(tmp_path: Path) -> None:
    adapted = trained()
    inputs, _ = rows_of(adapted.loaded, questions(6, 3), 64).batch(range(6), adapted.loaded.device)
    given = adapted.taken(inputs)
    with torch.no_grad():
        wanted = adapted.kind.scores(adapted.model(**given))
        torch.testing.assert_close(adapted.kind.scores(merged(adapted)(**given)), wanted, atol=1e-5, rtol=1e-5)
    kept = record(adapted, SQUAD).evolve(kind=SPAN)
    folder = unpacked(export_merged(adapted, kept, tmp_path / "run.zip"))
    opened = AutoModelForQuestionAnswering.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        torch.testing.assert_close(adapted.kind.scores(opened(**given)), wanted, atol=1e-5, rtol=1e-5)


@each_row("method", LEARNING)
def test_a_plan_counts_what_is_trained(method: str) -> None:
    loaded, spec = tiny_loaded("BERT"), of_method(method)
    adapted = adapt(loaded, 1, spec, SPAN)
    counted = sum(parameter.numel() for parameter in adapted.trainable().values())
    assert plan(loaded, 1, spec, 32, 20.0, SPAN).trainable == counted


@pytest.mark.parametrize("method", LEARNING)
def test_the_export_has_a_script_that_trains_as_much(
    method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapted = trained(method)
    kept = record(adapted, SQUAD).evolve(kind=SPAN)
    folder = unpacked(export_adapter(adapted, kept, span_data(16, 8), tmp_path / "run.zip"))
    said = run_here(folder, capsys, monkeypatch)
    counted = sum(parameter.numel() for parameter in adapted.trainable().values())
    assert f"{counted:,} parameters are trained" in said
    assert "validation: f1 0." in said or "validation: f1 1." in said
    assert "validation: exact_match" in said
