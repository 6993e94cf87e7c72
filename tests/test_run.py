"""The library, and the scripts that a page's "Copy as Python" gives."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import explorer
from explorer.errors import BadInputError, ExplorerError
from explorer.labs import LABS, LiveAction
from explorer.reference import reference
from explorer.settings import ROOT
from tests.models.tiny import save

ACTIONS = {action.name: action for lab in LABS for action in lab.actions}
NASTY = 'He said "it\'s [MASK]" \\ C:\\new\\table {x} %s\nand a new line — “ü” 😀'
EXAMPLE = "example-lora-8"
TINY: dict[str, Any] = {"model": "TINY", "examples": 32, "epochs": 1}
"""TINY and ALBERT stand for the tiny models' folders, RUN for a run of the first, and STUDENT for its student."""

ALONE = ("fill_masks", {"text": "Paris is in [MASK]."})
"""The first script that the process of all scripts runs: it finds nothing that another has left."""

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ALONE,
    ("fill_masks", {"text": NASTY, "top_k": 3, "also_mask": ("line", 2), "spans": ((0, 2),)}),
    ("fill_masks", {"text": "\"\"\"[MASK]'''\\"}),
    ("fill_masks", {"text": "The cats is here.", "also_mask": ("is",), "words": ("are",), "in_view": True}),
    ("corrupt", {"text": NASTY, "rate": 0.5, "scheme": "whole_word", "seed": 7}),
    ("count_fates", {"text": "A short text.", "mask_share": 0.5, "draws": 20}),
    ("draw_epochs", {"text": "A short text.", "epochs": 3, "duplicates": 2}),
    ("directions", {"text": 'He said "it\'s late" \\ — and\nleft.', "position": 4}),
    ("attention_of_directions", {"text": "We leave.", "layer": 2}),
    ("directions_of_fifty", {}),
    ("next_token_proof", {}),
    ("answer_in_view", {"text": 'We "leave".'}),
    ("replaced_tokens", {"model": "electra-mini-discriminator", "text": 'It\'s "late".\\', "seed": 3}),
    ("replaced_by_hand", {"model": "electra-mini-discriminator", "text": "We left.", "shown": 'We "left".\\'}),
    ("replaced_draws", {"model": "electra-mini-discriminator", "text": "We left, and it was late.", "draws": 2}),
    ("continue_text", {"model": "gpt2-mini", "text": NASTY, "tokens": 3, "branch": (262, 3965), "decoding": ("beam",)}),
    ("next_token", {"model": "gpt2-mini", "text": 'It\'s "late".\\', "k": 3, "chosen": 262}),
    (
        "generate",
        {"model": "gpt2-mini", "meaning": 'name : It\'s "late" \\ {x} %s', "tokens": 3, "decoding": ("greedy",)},
    ),
    ("adapt_writer", {"model": "GPT2", "methods": ("lora",), "examples": 8, "epochs": 1}),
    (
        "pretraining_row",
        {"document_a": 'It\'s "late".\\ We left. They {x} %s.', "document_b": NASTY, "next": "elsewhere", "rate": 0.4},
    ),
    (
        "pretrain",
        {"steps": 2, "layers": 1, "hidden": 16, "heads": 2, "vocabulary": 400, "probes": NASTY, "against": "rate=0.4"},
    ),
    ("follow_pretraining", {}),
    ("pretrained_model", {}),
    (
        "score_sentences",
        {
            "model": "bert-mini",
            "sentences": ('It\'s "late".\\', NASTY.replace("[MASK]", "it").replace("\n", " ")),
            "masking": "token",
        },
    ),
    ("fill_several", {"model": "bert-mini", "text": 'It\'s [MASK] "\\" [MASK] {x} %s', "steps": 2}),
    ("swap_word", {"text": 'A "man" \\ {x} %s is [MASK].', "word": "man", "other": "wo'man"}),
    ("score_minimal_pairs", {"model": "TINY", "masking": "token"}),
    ("masking_rates", {"models": "TINY", "text": 'the "cat" \\ sat {x} %s', "seed": 2}),
    ("score_pair", {"sentence_a": 'It\'s "late".\\', "sentence_b": "We\nleave."}),
    ("score_all_pairs", {"text": 'One "two". Three\\four. Five\tsix.'}),
    ("score_order", {"model": "ALBERT", "first": 'It\'s "late".\\', "second": "We\nleave."}),
    ("score_kinds", {"text": 'One "two". Three\\four. Five\tsix.', "other_text": "It's {x} %s."}),
    ("score_texts", {"hypotheses": ('It\'s "late" \\ {x} %s.',), "references": (("It's late.", 'So "late"!'),)}),
    ("score_parts", {"hypotheses": ('A "pub".', "It's."), "references": (("A pub.",), ("It is.",)), "sentence": 2}),
    ("family", {"which": ("bundled",)}),
    ("tuned_scores", {}),
    ("held_out_scores", {"models": ("bert-mini",)}),
    ("training_curves", {"models": ("bert-mini",)}),
    ("count_parameters", {"base": "bert-mini", "layers": 3}),
    ("recipe_steps", {"score": "sst2"}),
    ("published_figures", {"paper": "albert", "verdict": "differ"}),
    ("sharing_speed", {"layers": 2, "hidden_size": 64, "embedding_size": 16}),
    ("layer_movement", {"models": "TINY", "text": "The cat sat."}),
    ("tokenize", {"text": NASTY, "models": ("unigram", "bert-small")}),
    ("cut_word", {"word": 'it\'s "na\\ïve" 😀', "after_space": False}),
    ("typos", {"text": 'It\'s "late", we \\ leave {x} %s.', "share": 1.0, "seed": 2}),
    ("typos_over_shares", {"models": "bert-mini", "sentences": 2}),
    ("embedding_parts", {"sentence_a": NASTY, "sentence_b": "We\nleave."}),
    ("token_parts", {"sentence_a": NASTY, "position": 3}),
    ("position_similarity", {"step": 64}),
    ("relative_positions", {"model": "deberta-mini", "length": 7}),
    ("contextual_similarity", {"sentences": ('A "bank" of \\ sand | ri"ver', "the bank’s “x”"), "word": "bank"}),
    ("logit_lens", {"text": NASTY, "top_k": 3, "follow": "late"}),
    (
        "patch_activations",
        {
            "model": "bert-mini",
            "base": "the cat sat on the [MASK] .",
            "source": "the mat sat on the [MASK] .",
            "answers": "cat, mat",
        },
    ),
    ("probe_layers", {"models": "TINY", "penalty": 0.5, "seed": 3}),
    ("whole_pass", {"text": NASTY, "also_mask": ("2",), "layer": 1, "head": 2}),
    ("attention", {"sentence_a": NASTY, "sentence_b": "We\nleave.", "layer": 1, "head": 2, "masked": (3,)}),
    ("head_statistics", {"sentence_a": NASTY}),
    ("attention_view", {"sentence_a": NASTY, "view": "head", "layer": 2}),
    ("query_key", {"sentence_a": NASTY, "layer": 2, "head": 1, "position": 2}),
    ("disentangled_terms", {"model": "deberta-mini", "sentence_a": NASTY, "layer": 1, "head": 1}),
    ("one_layer", {"model": "gpt2-mini"}),
    ("ablate_heads", {"text": "\"\"\"[MASK]'''\\", "heads": ((0, 1), (5, 2)), "top_k": 3}),
    ("ablate_each_head", {"model": "bert-mini", "text": "A [MASK]."}),
    ("ablate_run_heads", {"run": EXAMPLE, "sentence_a": NASTY, "heads": "0.1"}),
    (
        "attribute",
        {"model": "bert-mini", "text": NASTY, "method": ("integrated_gradients", "occlusion"), "by": "words"},
    ),
    ("attribute_run", {"run": EXAMPLE, "sentence_a": NASTY, "method": "gradient_x_input"}),
    ("task_card", {"task": "stsb"}),
    ("plan_run", {**TINY, "method": "houlsby", "bottleneck": 4}),
    ("train", {**TINY, "rank": 2, "targets": ("value", "ffn_in"), "learning_rate": 1e-3, "seed": 5}),
    ("runs", {}),
    ("glue", {"beside": "RoBERTa-large LoRA† 0.8M"}),
    ("compare_methods", {**TINY, "methods": ("head", "ia3")}),
    ("memory_parts", {"model": "TINY", "method": "bitfit", "examples": 32, "batch_size": 4}),
    ("follow_run", {"run": EXAMPLE}),
    ("predict_run", {"run": EXAMPLE, "sentence_a": NASTY}),
    ("answer_question", {"run": "example-squad", "question": "Who left?", "text": NASTY}),
    ("swap_runs", {"runs": "RUN", "sentence_a": NASTY}),
    ("merge_check", {"run": "RUN"}),
    ("sweep", {**TINY, "setting": "matrices", "values": ("q+v", "o"), "seeds": 1}),
    ("latency", {"model": "TINY", "methods": ("lora", "ia3"), "length": 8, "repeats": 2}),
    ("export_run", {"run": "RUN", "kind": "adapter"}),
    ("take_metrics_apart", {"matrix": ((3, 1), (0, 2))}),
    ("correlate", {"points": ((0.5, 1.0), (4.0, 3.5), (2.0, 2.5))}),
    ("delta_spectrum", {"run": EXAMPLE, "step": 12}),
    ("follow_delta", {"run": EXAMPLE}),
    ("subspace_similarity", {"run_a": EXAMPLE, "run_b": EXAMPLE, "layer": 1, "module": "value"}),
    ("amplification", {"run": EXAMPLE, "layer": 2, "r": 2}),
    ("amplification_by_layer", {"run_a": EXAMPLE, "run_b": EXAMPLE, "r": 3}),
    ("placement", {"run": EXAMPLE, "layer": 5, "module": "value"}),
    ("weight_spectrum", {"run": EXAMPLE, "layer": 5, "module": "value"}),
    ("intruder_dimensions", {"run_a": "RUN", "run_b": "RUN", "layer": 1, "k": 3, "epsilon": 0.9}),
    ("forgetting", {"runs": "RUN"}),
    ("soft_targets", {"text": NASTY, "temperature": 3.0, "top_k": 4}),
    ("distillation_losses", {"text": NASTY, "run": EXAMPLE, "student_layers": 3, "alpha": 0.25}),
    ("soft_gradients", {"text": NASTY, "run": EXAMPLE, "student_layers": 3}),
    ("distill", {"teacher": "RUN", "student_layers": 1, "examples": 32, "epochs": 1}),
    ("follow_student", {"run": "STUDENT"}),
    ("student_seeds", {"run": "example-few-0"}),
    ("ablate_distillation", {"teacher": "RUN", "student_layers": 1, "examples": 32, "epochs": 1}),
    ("importance", {"run": "RUN", "examples": 8}),
    ("compare_orders", {"run": "RUN", "examples": 8, "held_out": 8, "draws": 1}),
    ("prune_heads", {"run": "RUN", "heads": ((0, 1), (1, 0)), "examples": 8, "held_out": 8}),
    ("prune", {"run": "RUN", "unit": "head", "share": 0.25, "examples": 8, "held_out": 8}),
    ("compare_steps", {"run": "RUN", "examples": 8, "held_out": 8, "steps": 2, "train_between": 1}),
    ("quantise", {"run": "RUN", "held_out": 8, "batch": 2}),
    ("compare_amplification", {**TINY, "module": "key", "r": 1}),
    ("train_intruders", {**TINY, "module": "value", "layer": 1, "k": 2}),
    ("sweep_ranks", {**TINY, "ranks": (1, 3), "targets": ("query",)}),
)
"""Every action at least once; the parameters hold quotes, backslashes and line breaks."""

NOT_ALONE = {"export_pruned"}
"""What takes home something made before in the same process."""

COLUMNS_OF_THEIR_OWN = {
    *("pretrain", "follow_pretraining"),  # each measurement by its name
    *("continue_text", "next_token", "generate", "adapt_writer"),
    *("runs", "compare_methods", "swap_runs", "merge_check", "sweep", "latency"),
}
"""Whose columns what is said of the table doesn't all name."""

DRAWN = {
    *("corrupt", "count_fates", "draw_epochs", "pretraining_row", "replaced_tokens", "replaced_draws"),
    *("continue_text", "generate", "typos", "masking_rates", "probe_layers", "forgetting", "compare_orders"),
    *("amplification", "amplification_by_layer", "train", "distill", "sweep_ranks"),
    ALONE[0],
}
"""Actions whose scripts another process runs as well: what is drawn there is the same, and so is each character."""

RUN_ALL = """
import contextlib, io, json, runpy, sys
printed = []
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        runpy.run_path(path)
    printed.append(out.getvalue())
sys.stdout.write(json.dumps(printed))
"""


def python(*arguments: str) -> str:
    """What a Python of its own prints, run in the repository's folder."""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def script_of(name: str, parameters: dict[str, Any]) -> str:
    action, given = ACTIONS[name], dict(parameters)
    if isinstance(action, LiveAction):
        return action.script(action.params(**given))
    model = given.pop("model", "bert-small") if action.job.on == "model" else ""
    return action.script(model, action.params(**given))


def run_here(script: str, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], explorer.Answer, str]:
    """What a script asks for, the answer, and what it prints."""
    asked, answers = list[dict[str, Any]](), list[explorer.Answer]()
    run = explorer.run

    def recorded(action: str, **given: Any) -> explorer.Answer:
        asked.append({"action": action, **given})
        answers.append(run(action, **given))
        return answers[-1]

    with monkeypatch.context() as listening, contextlib.redirect_stdout(io.StringIO()) as printed:
        listening.setattr(explorer, "run", recorded)
        exec(compile(script, "script.py", "exec"), {"__name__": "__main__"})
    (one,), (answer,) = asked, answers
    return one, answer, printed.getvalue()


@pytest.fixture(scope="module")
def tiny_run(tiny_model: str) -> str:
    """A run of the tiny model: what one takes apart, times and quantises in no time."""
    return str(explorer.run("train", model=tiny_model, examples=32, epochs=1).result.run_id)


@pytest.fixture(scope="module")
def calls(tiny_model: str, tiny_run: str, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any]]]:
    """CALLS with the tiny models' folders and a run's name in their places."""
    student = (
        explorer.run("distill", teacher=tiny_run, student_layers=1, examples=32, epochs=1).result.students[0].run_id
    )
    folder = tmp_path_factory.mktemp("models")
    albert, gpt2 = (str(save(folder / family, family)) for family in ("ALBERT", "GPT-2"))
    meant = {"TINY": tiny_model, "ALBERT": albert, "GPT2": gpt2, "RUN": tiny_run, "STUDENT": student}
    return [
        (name, {key: meant.get(value, value) if isinstance(value, str) else value for key, value in given.items()})
        for name, given in CALLS
    ]


def test_every_script_asks_what_the_page_does_and_prints_its_table(
    tmp_path: Path, calls: list[tuple[str, dict[str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {name for name, _ in calls} == set(ACTIONS) - NOT_ALONE
    elsewhere: dict[Path, str] = {}
    for number, (name, parameters) in enumerate(calls):
        action, script = ACTIONS[name], script_of(name, parameters)
        asked, answer, printed = run_here(script, monkeypatch)
        assert printed == f"{answer}\n"
        assert asked.pop("action") == name
        if "model" not in {field.name for field in fields(action.params)}:
            assert asked.pop("model", "bert-small") == parameters.get("model", "bert-small")
            parameters = {key: value for key, value in parameters.items() if key != "model"}
        assert action.params(**asked) == action.params(**parameters), name
        explained = set(re.findall(r"\w+", reference(action).columns))
        assert name in COLUMNS_OF_THEIR_OWN or set(answer.table.columns) <= explained, name
        if name in DRAWN:
            path = tmp_path / f"{number}.py"
            path.write_text(script, encoding="utf-8")
            elsewhere[path] = printed
    assert json.loads(python("-c", RUN_ALL, *map(str, elsewhere))) == list(elsewhere.values())


def test_a_run_that_a_script_trains_stays_in_its_list(tiny_model: str) -> None:
    before = {row[0] for row in explorer.run("runs").table.rows}
    trained = explorer.run("train", model=tiny_model, examples=32, epochs=1, method="bitfit")
    assert trained.table.columns == ("step", "loss", "metric")
    assert trained.result.run_id not in before
    listed = {row[0]: row for row in explorer.run("runs").table.rows}
    assert listed.keys() == before | {trained.result.run_id}
    assert listed[trained.result.run_id][4:6] == ("bitfit", "done")
    answer = explorer.run("predict_run", run=trained.result.run_id, sentence_a="A film.")
    assert len(answer.table.rows) == 4
    script = "import explorer; print([row[0] for row in explorer.run('runs').table.rows])"
    assert trained.result.run_id in python("-c", script)


def test_what_fails_while_it_trains_is_an_explorer_error(tiny_model: str) -> None:
    with pytest.raises(ExplorerError, match="diverged"):
        explorer.run("train", model=tiny_model, examples=32, epochs=1, learning_rate=1e6)


def test_a_script_only_names_what_is_not_at_its_default() -> None:
    assert "top_k" not in script_of(*ALONE)


def test_an_answer_holds_result_and_table_and_prints_as_the_table() -> None:
    answer = explorer.run("fill_masks", text="Paris is in [MASK].", top_k=2)
    assert answer.table.columns == ("position", "rank", "token", "probability")
    assert len(answer.table.rows) == 2
    assert [guess.token for guess in answer.result.masks[0].predictions] == [row[2] for row in answer.table.rows]
    assert str(answer) == str(answer.table)


def test_an_unknown_action_is_a_value_error_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"No action is called 'fill'.*fill_masks.*score_pair"):
        explorer.run("fill", text="a")


def test_an_unknown_parameter_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="topk"):
        explorer.run("fill_masks", text="[MASK]", topk=3)


def test_an_action_answers_by_its_name_alone() -> None:
    assert explorer.run("fill_masks").table.rows[0][2] == "are"


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


def test_what_a_script_has_pruned_it_can_take_home(tiny_run: str) -> None:
    asked: dict[str, Any] = {"run": tiny_run, "examples": 8, "held_out": 8}
    pruned = explorer.run("prune", unit="head", share=0.5, **asked).result
    files = explorer.run("export_pruned", key=pruned.key, **asked).table
    assert "model.safetensors" in " ".join(str(row[0]) for row in files.rows)
