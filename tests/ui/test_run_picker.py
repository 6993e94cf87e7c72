"""Which run a page opens with: its own kind's, the one that a link names, or the worked example."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from explorer.engine.local import LocalEngine
from explorer.labs.attribution.run_page import can_be_explained
from explorer.labs.distillation.page import can_teach
from explorer.labs.pruning.controls import can_be_pruned
from explorer.runs.examples import ANSWERS, FIRST, FROM_NOTHING, WRITTEN
from explorer.runs.record import RunRecord
from explorer.ui.run_picker import RunPicker

NOTHING = next(iter(FROM_NOTHING))
TEXT_STUDENT = "example-student-text"
OF_ANOTHER_KIND = (WRITTEN, ANSWERS, NOTHING)
ACCEPTING: dict[str, Callable[[RunRecord], bool]] = {
    "pruning": can_be_pruned,
    "distillation": can_teach,
    "attribution": can_be_explained,
}


@pytest.fixture
def picked(engine: LocalEngine) -> Callable[..., RunPicker]:
    def make(accept: Callable[[RunRecord], bool], **options: Any) -> RunPicker:
        with gr.Blocks() as blocks:
            picker = RunPicker(SimpleNamespace(opened=blocks.load, engine=engine), accept, **options)  # type: ignore[arg-type]
            picker.wire()
        return picker

    return make


def opened(picker: RunPicker, remembered: Any = (), address: str | None = None) -> tuple[str, str, str]:
    """The run, what of it was opened unasked, and the remark."""
    request: Any = SimpleNamespace(
        query_params={} if address is None else {"run": address},
        cookies={},
        client=SimpleNamespace(host="127.0.0.1"),
        headers={},
        session={},
        request=SimpleNamespace(scope={}),
    )
    _, _, run, unasked, remark, *_ = picker.restore("", list(remembered), request)
    return run["value"], unasked, remark


@pytest.mark.parametrize("page", ACCEPTING)
def test_runs_of_other_kinds_leave_a_page_its_own(page: str, picked: Callable[..., RunPicker]) -> None:
    picker = picked(ACCEPTING[page], needs="runs with classes")
    assert opened(picker, OF_ANOTHER_KIND) == (FIRST, FIRST, "")
    assert opened(picker, [*OF_ANOTHER_KIND, "example-lora-64"]) == ("example-lora-64", "", "")


@pytest.mark.parametrize("page", ACCEPTING)
@pytest.mark.parametrize("run", OF_ANOTHER_KIND)
def test_a_link_to_a_run_that_a_page_cannot_show_is_answered_in_words(
    page: str, run: str, picked: Callable[..., RunPicker], engine: LocalEngine
) -> None:
    shown, _, remark = opened(picked(ACCEPTING[page], needs="runs with classes"), address=run)
    assert shown == FIRST
    assert f"“{engine.runs.get(run).name}”" in remark
    assert f"here is “{engine.runs.get(FIRST).name}”" in remark


def test_a_link_to_a_run_that_it_can_show_is_followed(picked: Callable[..., RunPicker]) -> None:
    assert opened(picked(can_be_pruned), [FIRST], "example-lora-64") == ("example-lora-64", "", "")


def test_a_run_that_is_only_listed_is_shown_where_it_is_asked_for(picked: Callable[..., RunPicker]) -> None:
    picker = picked(can_teach, opens=lambda record: bool(record.labels))
    assert opened(picker, [TEXT_STUDENT])[0] == FIRST
    assert opened(picker, address=TEXT_STUDENT)[0] == TEXT_STUDENT


class TestMemory:
    def test_the_newest_stands_first_and_one_of_each_kind(self, picked: Callable[..., RunPicker]) -> None:
        picker = picked(lambda record: True)
        kept: list[str] = []
        for run in (FIRST, WRITTEN, NOTHING, "example-lora-64"):
            kept, unasked = picker._remember(run, kept, "")
            assert unasked == ""
        assert kept == ["example-lora-64", NOTHING, WRITTEN]

    def test_what_a_page_opened_with_unasked_is_no_choice(self, picked: Callable[..., RunPicker]) -> None:
        kept, unasked = picked(lambda record: True)._remember(FIRST, [WRITTEN], FIRST)
        assert (kept["__type__"], unasked) == ("update", "")

    @pytest.mark.parametrize("kept", [None, "r1", {"run": FIRST}, [3, None, "gone"]])
    def test_what_an_older_page_or_a_hand_left_there_is_passed_over(
        self, kept: Any, picked: Callable[..., RunPicker]
    ) -> None:
        picker = picked(can_be_pruned)
        assert opened(picker, kept or [])[0] == FIRST
        assert picker._remember(FIRST, kept, "")[0] == [FIRST]
