"""Scripts without the package: each prints the numbers of its figure, and no text of a visitor leaves its quotes."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import pytest

import explorer
from explorer.labs import LABS, LiveAction
from explorer.plain import Asked, filled, literal
from explorer.settings import ROOT
from explorer.tuning import reading
from explorer.ui.folds import NO_PLAIN_SCRIPT, folds, frame
from tests.rows import each_row

ACTIONS = {action.name: action for lab in LABS for action in lab.actions}
SENTENCE = 'He said "it\'s late" and the bank — of the river — was closed.'
NASTY = 'A \'\'\'[MASK]""" \\ C:\\new\\ {x} %s\nand\r\n"""\nimport explorer\n"""'

VALUES = ("method", "position", "attribution")
MEASURED = ("share", "metric", "parameters")
MASKED = ("rate", "chosen", "accuracy", "loss", "tokens", "tokens_per_prediction", "right_per_100")
WRITTEN = ("writer", "decoding", "text", "surprisal")
KINDS = ("head", "kind", "first", "second", "probability")


@dataclass(frozen=True)
class Case:
    """One call and the columns of its table that the script must compute; all where none is named.

    left_out: begins the rows that it does not compute (a classifier before training has weights of the run's own seed).
    off: how far its numbers may be off. tied: its first rows, in which rounding decides (in layer 0 a word of two senses has
    one vector).
    """

    action: str
    given: dict[str, Any]
    columns: tuple[str, ...] = ()
    model: str = "bert-mini"
    left_out: str = ""
    off: float = 1e-4
    tied: int = 0


PROBED = ("layer", "accuracy", "control", "selectivity", "ambiguous")
RUNGS = ("layer", "guess", "probability", "hidden")
A_WORD = 0.01
"""Two solvers may part at a word whose two likeliest labels are as likely; 240 words are held out at least."""

OF_TWO = ("selectivity",)
"""Columns that are the difference of two others, and may be off by what both are."""

CARRIED = ("layer", "position", "share")
KEYS = "The key to the door [MASK] here.", "The keys to the door [MASK] here."
CATS = "The cat of my friend [MASK]", "The cats of my friend [MASK]"

CASES = (
    Case("fill_masks", {"text": "The [MASK] sat on the mat, and [MASK] slept.", "top_k": 3, "also_mask": ("mat",)}),
    Case("fill_masks", {"text": "Paris is in [MASK].", "spans": ((0, 5),)}, model="roberta-mini"),
    Case("fill_masks", {"text": NASTY}),
    Case("directions", {"text": SENTENCE, "position": 5}, model=""),
    Case("directions", {"text": 'She took her raincoat, "at last".', "position": 5}, model=""),
    Case("attention_of_directions", {"text": SENTENCE, "layer": 4}, model=""),
    Case("directions_of_fifty", {}, model=""),
    Case("answer_in_view", {"text": SENTENCE, "position": 3}, model=""),
    Case("score_pair", {"sentence_a": SENTENCE, "sentence_b": "We left."}),
    Case(
        "attention",
        {"sentence_a": SENTENCE, "sentence_b": "We [MASK].", "layer": 1, "head": 2, "masked": (3,)},
        ("weight",),
    ),
    Case("attention", {"sentence_a": NASTY, "layer": 3}, ("weight",), "gpt2-mini"),
    Case("corrupt", {"text": SENTENCE, "rate": 0.5, "seed": 3}),
    Case("corrupt", {"text": SENTENCE, "rate": 0.3, "mask_share": 0.4, "random_share": 0.5, "scheme": "whole_word"}),
    Case(
        "corrupt", {"text": f"{SENTENCE} {SENTENCE}", "rate": 0.4, "scheme": "ngram", "seed": 1}, (), "distilbert-mini"
    ),
    Case("corrupt", {"text": "A film.", "rate": 0}),
    Case("count_fates", {"text": SENTENCE, "scheme": "ngram", "rate": 0.4, "draws": 50}),
    Case("draw_epochs", {"text": SENTENCE, "epochs": 5, "duplicates": 2}, ("epoch", "position", "static", "dynamic")),
    Case("fill_masks", {"text": "The cat is here.", "top_k": 2, "also_mask": ("is",), "words": "was, were"}),
    Case("fill_masks", {"text": "The cats is here, [MASK].", "also_mask": ("is",), "words": ("are",), "in_view": True}),
    Case("swap_word", {"text": 'The "man" \\ {x} a [MASK].', "word": "man", "other": "wo'man"}),
    Case("swap_word", {"top_k": 2}, model="roberta-mini"),
    Case("patch_activations", {"base": KEYS[0], "source": KEYS[1], "answers": "is, are"}, CARRIED),
    Case(
        "patch_activations",
        {"base": KEYS[0], "source": KEYS[1], "part": "attention", "answers": "is, are"},
        CARRIED,
        "albert-mini",
    ),
    Case(
        "patch_activations",
        {"base": CATS[0], "source": CATS[1], "part": "ffn", "answers": "was, were"},
        CARRIED,
        "gpt2-mini",
    ),
    Case("probe_layers", {"models": "electra-mini-generator", "seed": 2}, PROBED, "", off=A_WORD, tied=1),
    Case("probe_layers", {"models": "TINY", "task": "pos", "penalty": 1.0}, PROBED, "", off=A_WORD, tied=1),
    Case("score_sentences", {"sentences": (SENTENCE, "An orangutan — “x” \\ {x} %s 😀")}),
    Case("score_sentences", {"sentences": (SENTENCE, "An orangutan."), "masking": "token", "model": "roberta-mini"}),
    Case("score_sentences", {"sentences": (SENTENCE, "An orangutan."), "model": "gpt2-mini"}),
    Case("fill_several", {"text": 'The [MASK] [MASK] on the [MASK], and "[MASK]".', "steps": 3}),
    Case("fill_several", {"text": "[MASK] <mask> left [MASK].", "steps": 1}, model="roberta-mini"),
    Case("score_minimal_pairs", {"model": "bert-mini"}),
    Case("score_minimal_pairs", {"model": "gpt2-mini", "masking": "token"}),
    Case(
        "masking_rates",
        {"models": "TINY", "text": "the cat sat on a mat, the cats sit on the mat. ", "seed": 4},
        MASKED,
        "",
    ),
    Case("score_all_pairs", {"text": 'It was "late". We left.\nThe shop was shut.'}),
    Case("score_order", {"first": SENTENCE, "second": "We left."}, (), "albert-mini"),
    Case("score_kinds", {"text": "We left. It was late.", "other_text": SENTENCE}, KINDS, "albert-mini"),
    Case("score_kinds", {"text": "We left. It was late.", "other_text": SENTENCE}, KINDS),
    Case("replaced_tokens", {"model": "electra-mini-discriminator", "text": f"{SENTENCE} {NASTY}", "seed": 3}),
    Case(
        "replaced_tokens",
        {"model": "electra-mini-discriminator", "text": SENTENCE, "temperature": 0, "rate": 0.5, "seed": 1},
    ),
    Case("replaced_tokens", {"model": "electra-mini-discriminator", "text": "A film.", "rate": 0}),
    Case(
        "replaced_by_hand",
        {"text": f"{SENTENCE} We left.", "shown": f"We {SENTENCE} We stayed untranslatable."},
        (),
        "electra-mini-discriminator",
    ),
    Case(
        "replaced_draws",
        {"model": "electra-mini-discriminator", "text": SENTENCE, "temperature": 1.3, "seed": 2, "draws": 6},
    ),
    Case("continue_text", {"model": "gpt2-mini", "text": f"{SENTENCE} ", "tokens": 12, "seed": 3, "beams": 3}),
    Case(
        "continue_text",
        {"model": "gpt2-mini", "text": NASTY, "tokens": 8, "k": 5, "p": 0.5, "temperature": 1.6, "branch": (262, 3965)},
    ),
    Case("next_token", {"model": "gpt2-mini", "text": SENTENCE, "k": 4, "p": 0.3, "temperature": 2, "branch": (262,)}),
    Case("generate", {"meaning": 'name : O\'Ryan \\ "x" | food : Thai', "beams": 3, "seed": 2}, WRITTEN, model=""),
    Case(
        "generate",
        {"run": "", "model": "gpt2-mini", "decoding": ("greedy", "top_k"), "tokens": 12, "k": 5},
        WRITTEN,
        model="",
    ),
    Case("pretraining_row", {"seed": 4, "rate": 0.3, "model": "bert-mini"}, model=""),
    Case(
        "pretraining_row",
        {
            "model": "bert-mini",
            "document_a": f"{SENTENCE} We left. {SENTENCE}",
            "document_b": NASTY,
            "next": "elsewhere",
        },
        model="",
    ),
    Case(
        "pretraining_row",
        {
            "model": "bert-mini",
            "document_a": f"{SENTENCE} " * 9 + "We left.",
            "next": "next",
            "scheme": "whole_word",
            "rate": 0.4,
            "seed": 2,
        },
        model="",
    ),
    Case("pretraining_row", {"model": "bert-mini", "scheme": "ngram", "rate": 0.5, "seed": 1}, model=""),
    Case("pretraining_row", {"model": "bert-mini", "rate": 0}, model=""),
    Case("tokenize", {"text": NASTY, "models": ("unigram", "bert-small", "gpt2-mini", "byte-level-bpe")}, model=""),
    Case("cut_word", {"word": "Untranslatable-ness", "models": ("unigram", "bert-small", "byte-level-bpe")}, model=""),
    Case("cut_word", {"word": "ǧğ", "models": ("roberta-mini", "bert-mini"), "after_space": False}, model=""),
    Case("typos", {"text": SENTENCE, "typed": f"{SENTENCE} And \\ closde."}, model=""),
    Case("typos", {"text": SENTENCE, "share": 1.0, "models": "roberta-mini, albert-mini"}, model=""),
    Case("typos_over_shares", {"models": "roberta-mini, bert-mini", "sentences": 2, "seed": 3}, model=""),
    Case("embedding_parts", {"sentence_a": SENTENCE, "sentence_b": "We left."}),
    Case("embedding_parts", {"sentence_a": NASTY}, model="roberta-mini"),
    Case("embedding_parts", {"sentence_a": SENTENCE}, model="albert-mini"),
    Case("embedding_parts", {"sentence_a": SENTENCE}, model="gpt2-mini"),
    Case("token_parts", {"sentence_a": SENTENCE, "position": 3}, model="electra-mini-generator"),
    Case("position_similarity", {"step": 7}, model="roberta-mini"),
    Case("relative_positions", {"length": 150}, model="deberta-mini"),
    Case("head_statistics", {"sentence_a": SENTENCE, "sentence_b": "We [MASK]."}),
    Case("head_statistics", {"sentence_a": "A"}, model="gpt2-mini"),
    Case("contextual_similarity", {"sentences": ("The bank | a", '"Bank", he said', "a bank’s “x”"), "word": "bank"}),
    Case("logit_lens", {"text": "The [MASK] sat on the [MASK].", "top_k": 3}),
    Case("logit_lens", {"text": "The [MASK] sat.", "top_k": 3}, model="albert-mini"),
    Case("logit_lens", {"text": "The [MASK] sat.", "top_k": 3}, model="electra-mini-generator"),
    Case("logit_lens", {"text": f"{SENTENCE} The [MASK] left.", "top_k": 3}, model="gpt2-mini"),
    Case("whole_pass", {"text": SENTENCE, "also_mask": ("bank", "late"), "head": 1}, RUNGS),
    Case("whole_pass", {"text": "The [MASK] sat."}, RUNGS, "albert-mini"),
    Case("whole_pass", {"text": NASTY, "position": 5}, RUNGS, "deberta-mini"),
    Case("whole_pass", {"text": f"{SENTENCE} The [MASK] left."}, RUNGS[:3], "gpt2-mini"),
    Case("ablate_heads", {"text": "The [MASK] sat on the [MASK].", "heads": ((0, 1), (5, 2)), "top_k": 3}),
    Case("ablate_heads", {"text": "We left.", "sentence_b": SENTENCE, "heads": "1.2"}),
    Case("ablate_heads", {"text": "The [MASK] sat.", "heads": "1.2", "everywhere": True}, model="albert-mini"),
    Case("ablate_heads", {"text": NASTY, "heads": "1.2, 0.0"}, model="gpt2-mini"),
    Case("ablate_heads", {"text": f"{SENTENCE} The [MASK] left.", "heads": "1.2"}, model="gpt2-mini"),
    Case("ablate_each_head", {"text": "The [MASK] sat."}, model="distilbert-mini"),
    Case(
        "disentangled_terms",
        {"sentence_a": "one two three four", "layer": 2, "head": 5},
        ("content_content", "content_position", "position_content", "score", "weight"),
        model="deberta-mini",
    ),
    Case("query_key", {"sentence_a": SENTENCE, "layer": 2, "head": 1, "position": 2}, ("to", "score", "weight")),
    Case("soft_targets", {"model": "bert-mini", "text": "The [MASK] sat.", "temperature": 3.0, "top_k": 4}),
    Case("soft_targets", {"model": "bert-mini", "text": "We left.", "second": "It was late."}),
    Case("soft_targets", {"model": "bert-mini", "text": "The [MASK] sat.", "answer": "river"}),
    Case("soft_targets", {"model": "gpt2-mini", "text": "We left the [MASK].", "answer": "house", "top_k": 30}),
    Case("distillation_losses", {"model": "bert-mini", "text": "The [MASK] sat.", "alpha": 0.25}, ("loss", "value")),
    Case(
        "distillation_losses",
        {"model": "gpt2-mini", "text": "We left the [MASK].", "student_layers": 3},
        ("loss", "value"),
    ),
    Case("soft_gradients", {"model": "bert-mini", "text": "The [MASK] sat.", "student_layers": 5}),
    Case(
        "attribute",
        {
            "model": "bert-mini",
            "text": 'It\'s [MASK] "late".',
            "method": ("occlusion", "gradient_x_input"),
            "by": "words",
        },
        VALUES,
    ),
    Case(
        "attribute",
        {"model": "gpt2-mini", "text": "We left the [MASK].", "method": ("integrated_gradients", "saliency")},
        VALUES,
    ),
    Case("attribute_run", {"run": "RUN", "sentence_a": SENTENCE, "method": ("saliency", "occlusion")}, VALUES),
    Case("ablate_run_heads", {"run": "RUN", "sentence_a": SENTENCE, "heads": "0.1"}),
    Case("delta_spectrum", {"run": "example-lora-8", "step": 12}),
    Case("follow_delta", {"run": "example-lora-4"}),
    Case("subspace_similarity", {"run_a": "example-lora-8", "run_b": "example-lora-4", "module": "value", "layer": 2}),
    Case("amplification", {"run": "example-lora-8", "layer": 2, "r": 8}),
    Case("amplification_by_layer", {"run_a": "example-lora-8", "run_b": "example-lora-4", "r": 3}),
    Case("placement", {"run": "example-lora-8", "layer": 5, "module": "value"}),
    Case(
        "weight_spectrum",
        {"run": "example-lora-4", "layer": 3},
        ("direction", "share_of_directions", "weight_value", "weight_energy", "update_value", "update_energy"),
    ),
    Case("intruder_dimensions", {"run_a": "example-lora-8", "run_b": "example-lora-64", "k": 4, "epsilon": 0.95}),
    Case("predict_run", {"run": "example-lora-8", "sentence_a": SENTENCE}, left_out="base"),
    Case("merge_check", {"run": "RUN"}, ("form", "max_difference"), left_out="base"),
    Case("importance", {"run": "RUN", "examples": 8}),
    Case("importance", {"run": "RUN", "examples": 6, "unit": "neuron", "score": "normalised", "loss": "soft"}),
    Case("importance", {"run": "RUN", "examples": 6, "unit": "layer"}),
    Case("prune_heads", {"run": "RUN", "heads": "0.1", "held_out": 24}, ("share", "metric", "parameters")),
    Case("compare_orders", {"run": "RUN", "examples": 6, "held_out": 24, "draws": 1}),
    Case(
        "compare_orders",
        {"run": "RUN", "examples": 6, "held_out": 8, "unit": "both", "score": "normalised", "loss": "soft"},
    ),
    Case("prune", {"run": "RUN", "examples": 6, "held_out": 24}, MEASURED),
    Case(
        "prune",
        {
            "run": "RUN",
            "examples": 8,
            "held_out": 24,
            "steps": 3,
            "train_between": 2,
            "even": True,
            "heads": 1,
            "neurons": 9,
        },
        MEASURED,
    ),
    Case(
        "prune",
        {"run": "RUN", "examples": 4, "held_out": 8, "unit": "neuron", "order": "random", "steps": 2, "seed": 4},
        MEASURED,
    ),
    Case("compare_steps", {"run": "RUN", "examples": 40, "held_out": 24, "steps": 3, "train_between": 5}),
    Case("quantise", {"run": "RUN", "held_out": 24}, ("form", "share", "bytes", "metric")),
    Case("attention_view", {"sentence_a": SENTENCE, "view": "model", "smallest": 0.2}),
    Case("attention_view", {"sentence_a": SENTENCE, "layer": 1}, model="gpt2-mini"),
    Case("count_parameters", {"base": "bert-mini", "hidden_size": 96, "layers": 2}, ("part", "count"), ""),
    Case("count_parameters", {"base": "albert-mini", "shared": "no", "embedding_size": 32}, ("part", "count"), ""),
    Case(
        "layer_movement",
        {"models": "albert-mini, gpt2-mini", "text": "The [MASK] sat."},
        ("layer", "angle", "distance", "length", "tokens"),
        "",
    ),
    Case(
        "swap_runs",
        {"runs": ("example-lora-8", "example-lora-4"), "sentence_a": "It is not a bad film, and not a good one."},
    ),
    Case("predict_run", {"run": "example-bitfit", "sentence_a": SENTENCE}, left_out="base"),
    Case("answer_question", {"question": "Who left?", "text": "Ada left at noon, and Bo stayed."}, left_out="base"),
    Case("answer_question", {"question": "Who left?", "text": NASTY}, left_out="base"),
    Case("take_metrics_apart", {"matrix": ((40, 10), (5, 45))}, ("metric", "value"), ""),
    Case("take_metrics_apart", {"matrix": ((9, 2, 1), (3, 7, 2), (0, 4, 8))}, ("metric", "value"), ""),
    Case("correlate", {"points": ((0.5, 1.0), (4.0, 3.5), (2.0, 2.5))}, ("metric", "value"), ""),
)


@pytest.fixture(scope="module")
def own_run(tiny_model: str) -> str:
    """A run of this machine's own, as a visitor has it; its id stands for RUN, and its model's folder for TINY."""
    return str(explorer.run("train", model=tiny_model, examples=32, epochs=1, rank=2).result.run_id)


def script_of(case: Case, meant: dict[str, str]) -> tuple[str, Any]:
    """The script without the package for a call, and the call's own answer."""
    action = ACTIONS[case.action]
    given = {name: meant.get(value, value) if isinstance(value, str) else value for name, value in case.given.items()}
    model = None if isinstance(action, LiveAction) or action.job.on != "model" else case.model
    answer = explorer.run(case.action, **({"model": model} if model else {}), **given)
    assert action.plain is not None
    return action.plain(Asked(explorer._engine(), model, action.params(**given), answer.result)), answer


def run_alone(script: str) -> dict[str, Any]:
    """The names that a script leaves behind; importing the package is an error in it."""

    def guarded(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "explorer":
            raise ImportError("the script imports the package")
        return builtins.__import__(name, *rest)

    names: dict[str, Any] = {"__name__": "__main__", "__builtins__": {**vars(builtins), "__import__": guarded}}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(script, "plain.py", "exec"), names)
    assert printed.getvalue().strip()
    return names


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.action}-{case.model}")
def test_the_numbers_are_those_of_the_figure(
    case: Case, monkeypatch: pytest.MonkeyPatch, own_run: str, tiny_model: str
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(reading, "has_bfloat16", lambda device: False)  # rounding of three digits hides what is wrong
    script, answer = script_of(case, {"RUN": own_run, "TINY": tiny_model})
    rows = run_alone(script)["rows"]
    places = [place for place, name in enumerate(answer.table.columns) if not case.columns or name in case.columns]
    expected = [row for row in answer.table.rows if not case.left_out or row[0] != case.left_out]
    assert len(rows) == len(expected) > case.tied
    off = {place: case.off * (2 if answer.table.columns[place] in OF_TWO else 1) for place in places}
    for row, wanted in list(zip(rows, expected, strict=True))[case.tied :]:
        assert [row[place] for place in places] == [pytest.approx(wanted[place], abs=off[place]) for place in places], (
            row
        )


def test_the_other_script_runs_where_its_first_lines_say(tmp_path: Path) -> None:
    for name in ("explorer", "assets"):
        (tmp_path / name).symlink_to(ROOT / name)
    text = {"text": "Paris is in [MASK].", "top_k": 2}
    action = ACTIONS["fill_masks"]
    script = action.script("bert-mini", action.params(**text))
    said = re.search(r"^# Save this as (\S+) in the BERT Explorer's folder, the one with\n# app.py", script)
    assert said
    assert f"\n#     .venv/bin/python {said[1]}\n" in script
    (tmp_path / said[1]).write_text(script, encoding="utf-8")
    done = subprocess.run([sys.executable, said[1]], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [
        [line.split() for line in out.splitlines()[1:]]
        for out in (done.stdout, str(explorer.run("fill_masks", "bert-mini", **text)))
    ]
    assert len(rows[1]) == 2
    assert [row[:3] for row in rows[0]] == [row[:3] for row in rows[1]]
    assert [float(row[3]) for row in rows[0]] == pytest.approx([float(row[3]) for row in rows[1]], abs=3e-6)


def test_where_there_is_none_the_fold_says_so() -> None:
    lens, given = ACTIONS["logit_lens"], {"text": "We left."}
    answer = explorer.run("logit_lens", "electra-mini-discriminator", **given)
    asked = Asked(explorer._engine(), "electra-mini-discriminator", lens.params(**given), answer.result)
    with gr.Blocks():
        panel = folds(lens)
    assert panel.filled(lens, asked, "script", frame(answer.table))[:2] == [NO_PLAIN_SCRIPT, "script"]


def test_every_script_has_its_case() -> None:
    assert {case.action for case in CASES} == {name for name, action in ACTIONS.items() if action.plain}


TEMPLATE = '"""What it does."""\n\nMODEL = "m"  # where\nTEXT = (\n    "a"\n    "b"\n)  # said\nLEFT = 1\nprint(TEXT)\n'


@each_row(
    "text",
    ['"', "'", "\\", '"""', "'''", "\n", "\r", "\\\n", '\\"', '"; import os; "', "\ud800", "{x} %s", "“ü” 😀", "\0"],
)
def test_a_text_stays_in_its_literal(text: str) -> None:
    script = filled(TEMPLATE, {"TEXT": text, "MODEL": "there"})
    body = ast.parse(script.encode("utf-8", "backslashreplace")).body
    assert [type(node).__name__ for node in body] == ["Expr", "Assign", "Assign", "Assign", "Expr"]
    assert [ast.literal_eval(node.value) for node in body if isinstance(node, ast.Assign)] == ["there", text, 1]
    assert "# where" in script
    assert "# said" in script


@each_row(
    "value",
    [
        (),
        (1,),
        [],
        {},
        None,
        True,
        -0.5,
        ("a'\"", ("b",)),
        {"x\\": ['"'] * 9},
        tuple("é\n\"'" * 50),
        ((0,), (1, 2)) * 40,
    ],
)
def test_values_of_every_kind_are_written_as_they_are(value: Any) -> None:
    written = literal(value)
    assert ast.literal_eval(written) == value
    assert max(map(len, written.splitlines())) < 130


def test_a_value_without_a_literal_is_refused() -> None:
    with pytest.raises(TypeError, match="no literal"):
        literal(object())
