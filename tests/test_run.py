"""The library, and the scripts that a page's "Copy as Python" gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.errors import BadInputError
from explorer.labs import LABS, Action
from explorer.settings import ROOT

ACTIONS = {action.name: action for lab in LABS for action in lab.actions}
NASTY = 'He said "it\'s [MASK]" \\ C:\\new\\table {x} %s\nand a new line — “ü” 😀'
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fill_masks", {"text": NASTY, "top_k": 3, "also_mask": ("line", 2), "spans": ((0, 2),)}),
    ("fill_masks", {"text": "\"\"\"[MASK]'''\\"}),
    ("corrupt", {"text": NASTY, "rate": 0.5, "scheme": "whole_word", "seed": 7}),
    ("count_fates", {"text": "A short text.", "mask_share": 0.5, "draws": 20}),
    ("draw_epochs", {"text": "A short text.", "epochs": 3, "duplicates": 2}),
    ("score_pair", {"sentence_a": 'It\'s "late".\\', "sentence_b": "We\nleave."}),
    ("score_all_pairs", {"text": 'One "two". Three\\four. Five\tsix.'}),
)
"""Every action at least once; the parameters hold quotes, backslashes and line breaks."""

RUN_ALL = """
import contextlib, io, json, runpy, sys
printed = []
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(path)
    printed.append(out.getvalue())
sys.stdout.write(json.dumps(printed))
"""


def python(*arguments: str, program: str | None = None) -> str:
    """What a Python of its own prints, run in the repository's folder; `program` comes as its standard input."""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        input=program,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def script_of(name: str, parameters: dict[str, Any]) -> str:
    action: Action = ACTIONS[name]
    return action.script("bert-small", action.params(**parameters))


def test_every_script_prints_the_table_that_the_page_shows(tmp_path: Path) -> None:
    assert {name for name, _ in CALLS} == set(ACTIONS)
    paths = []
    for number, (name, parameters) in enumerate(CALLS):
        paths.append(tmp_path / f"{number}.py")
        paths[-1].write_text(script_of(name, parameters), encoding="utf-8")
    printed = json.loads(python("-c", RUN_ALL, *map(str, paths)))
    for (name, parameters), text in zip(CALLS, printed, strict=True):
        assert text == str(explorer.run(name, **parameters)) + "\n"


def test_a_script_runs_by_itself_and_only_names_what_is_not_at_its_default() -> None:
    script = script_of("fill_masks", {"text": "Paris is in [MASK]."})
    assert "top_k" not in script
    assert python("-", program=script) == str(explorer.run("fill_masks", text="Paris is in [MASK].")) + "\n"


def test_an_answer_holds_result_and_table_and_prints_as_the_table() -> None:
    answer = explorer.run("fill_masks", text="Paris is in [MASK].", top_k=2)
    assert answer.table.columns == ("position", "rank", "token", "probability")
    assert len(answer.table.rows) == 2
    assert [guess.token for guess in answer.result.masks[0].predictions] == [row[2] for row in answer.table.rows]
    assert str(answer) == str(answer.table)


def test_an_unknown_action_is_a_value_error_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"No action is called 'fill'.*fill_masks.*score_pair"):
        explorer.run("fill", text="a")


def test_an_unknown_or_missing_parameter_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="topk"):
        explorer.run("fill_masks", text="[MASK]", topk=3)
    with pytest.raises(TypeError, match="text"):
        explorer.run("fill_masks")


def test_lists_as_a_json_client_sends_them_are_taken() -> None:
    answer = explorer.run("fill_masks", text="Paris is big.", also_mask=["big"], spans=[[0, 5]])
    assert [mask.hidden for mask in answer.result.masks] == ["Paris", "big"]


def test_what_a_visitor_can_put_right_is_an_explorer_error() -> None:
    with pytest.raises(BadInputError):
        explorer.run("score_pair", sentence_a="", sentence_b="b")


def test_importing_the_library_loads_neither_torch_nor_the_web_interface() -> None:
    heavy = "{'torch', 'transformers', 'gradio', 'plotly', 'numpy'}"
    code = f"import sys, explorer, explorer.labs; print(sorted({heavy} & set(sys.modules)))"
    assert python("-c", code).strip() == "[]"
