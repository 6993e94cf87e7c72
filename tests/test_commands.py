"""The actions in a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import explorer
from explorer import commands
from explorer.errors import BadInputError
from explorer.reference import reference
from explorer.settings import ROOT
from tests.rows import each_row

ACTIONS = explorer.actions()
BLANK = ("run", "fill_masks", "--model", "bert-mini", "--text", "Paris is in [MASK].")


def command(*arguments: str) -> Result:
    """What a command writes; one that a fault of ours has ended raises."""
    done = CliRunner().invoke(commands.main, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def test_list_names_every_action_with_its_page_and_a_line() -> None:
    listed = json.loads(command("list", "--format", "json").stdout)
    assert [row["action"] for row in listed] == list(ACTIONS)
    assert {"action": "fill_masks", "page": "/masking", "about": reference(ACTIONS["fill_masks"]).summary} in listed
    assert len(command("list").stdout.splitlines()) == len(ACTIONS) + 1


@each_row("name", ACTIONS)
def test_describe_explains_an_action_as_its_help_does(name: str) -> None:
    described = command("describe", name).stdout
    words = " ".join(described.split())
    said = reference(ACTIONS[name])
    assert "".join(said.summary.split()) in "".join(described.split())  # lines are broken at hyphens, too
    assert "".join(said.columns.split()) in "".join(described.split())
    for parameter in said.parameters:
        assert f"--{parameter.replace('_', '-')} " in f"{words} ", parameter
    assert command("run", name, "--help").stdout.split("\n", 1)[1] == described.split("\n", 1)[1]


def test_listing_and_describing_import_neither_torch_nor_the_web_interface() -> None:
    code = (
        "import sys; from explorer.commands import main\n"
        "for words in (['list'], ['describe', 'train']): main(words, standalone_mode=False)\n"
        "print(sorted({'torch', 'transformers', 'gradio', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")


def test_run_gives_the_table_of_the_page_in_three_formats(tmp_path: Path) -> None:
    table = explorer.run("fill_masks", model="bert-mini", text="Paris is in [MASK].", top_k=2).table
    asked = (*BLANK, "--top_k", "2")  # an underscore does as well
    assert command(*asked).stdout == f"{table}\n"
    assert command(*asked, "--format", "csv").stdout == table.as_csv()
    rows = json.loads(command(*asked, "--format", "json").stdout)
    assert [tuple(row.values()) for row in rows] == list(table.rows)
    kept = tmp_path / "table.csv"
    assert command(*asked, "--format", "csv", "--output", str(kept)).stdout == ""
    assert kept.read_text(encoding="utf-8") == table.as_csv()


@each_row("words", [["--words", "London,Rome"], ["--words", "London", "--words", "Rome"]])
@each_row("spans", [["--spans", "[[0, 5]]"], []])
def test_lists_are_written_with_commas_or_one_by_one_or_as_json(words: list[str], spans: list[str]) -> None:
    given = {"spans": ((0, 5),)} if spans else {}
    table = explorer.run(
        "fill_masks", model="bert-mini", text="Paris is in [MASK].", words=("London", "Rome"), **given
    ).table
    assert command(*BLANK, *words, *spans).stdout == f"{table}\n"


@each_row(
    ("name", "wrong"),
    [
        ("fill_masks", {"top_k": "300"}),
        ("corrupt", {"text": "a", "rate": "2"}),
        ("corrupt", {"text": "a", "scheme": "words"}),
        ("ablate_heads", {"text": "a", "heads": "first"}),
        ("train", {"rank": "0"}),
    ],
)
def test_a_wrong_value_is_refused_with_the_sentence_of_the_page(name: str, wrong: dict[str, str]) -> None:
    action = ACTIONS[name]
    model = {"model": "bert-mini"} if name == "train" else {}
    with pytest.raises(BadInputError) as raised:
        action.params(**wrong, **model)
    refused = command("run", name, *(word for one in wrong.items() for word in (f"--{one[0]}", one[1])))
    assert (refused.stderr, refused.stdout, refused.exit_code) == (f"{raised.value}\n", "", 2)


@each_row(
    ("words", "said"),
    [
        (("run", "fill_mask"), "No action is called 'fill_mask'. Did you mean fill_masks"),
        (("describe", "attentions"), "Did you mean attention"),
        (("run", "fill_masks", "--topk", "3"), "No such option '--topk'. Did you mean '--top-k'?"),
        (("run", "score_pair"), "Missing option '--sentence-a'"),
        ((*BLANK, "--output", "/nowhere/table.csv"), "There is no folder /nowhere"),
    ],
)
def test_what_there_is_not_is_said_with_the_nearest_that_there_is(words: tuple[str, ...], said: str) -> None:
    refused = command(*words)
    assert said in refused.stderr
    assert (refused.exit_code, refused.stdout) == (2, "")


def test_no_answer_that_other_input_would_not_change_is_another_status() -> None:
    refused = command("run", "fill_masks", "--model", "no/such-model")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("no/such-model ")


def test_what_is_taken_home_is_written_to_the_path(tmp_path: Path) -> None:
    taken = tmp_path / "adapter.zip"
    done = command("run", "export_run", "--run", "example-lora-8", "--output", str(taken))
    assert (done.exit_code, done.stdout) == (0, "")
    assert "adapter_model.safetensors" in zipfile.ZipFile(taken).namelist()


def test_a_training_says_how_it_stands_and_ctrl_c_stops_it(tiny_model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = commands._progress

    def interrupted(*given: object) -> str:
        line = shown(*given)  # type: ignore[arg-type]
        if "step" in line:
            raise KeyboardInterrupt
        return line

    monkeypatch.setattr(commands, "PROGRESS_SECONDS", 0.0)
    monkeypatch.setattr(commands, "_progress", interrupted)
    done = command("run", "train", "--model", tiny_model, "--examples", "64", "--epochs", "150")
    assert done.exit_code == commands.INTERRUPTED
    run = done.stderr.split("the run ")[1].split()[0]
    status = {row[0]: row[5] for row in explorer.run("runs").table.rows}
    assert status[run] == "stopped"
    assert explorer.stop() == []


def test_a_live_action_is_followed_answer_by_answer(tiny_model: str) -> None:
    answers = list(explorer.follow("train", model=tiny_model, examples=32, epochs=2))
    assert len(answers) > 1
    assert answers[-1].table == explorer.run("follow_run", run=answers[-1].result.run_id).table
    [only] = explorer.follow("fill_masks", model="bert-mini")
    assert only.table == explorer.run("fill_masks", model="bert-mini").table


def test_the_package_is_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "describe", "fill_masks"],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Usage: python -m explorer run fill_masks ")
