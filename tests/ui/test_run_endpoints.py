"""Training and what comes after it, as clients meet it: streams, owners, answers, files."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file
from gradio_client.client import Job

from tests.ui.conftest import LECTURER, QUICK, columns, newest, refusal, rows

LONG: dict[str, Any] = {"epochs": 200, "batch_size": 4}
"""A run that ends when it is stopped."""

SENTENCE = "A warm and funny film."
PATIENCE = 120.0
Newcomer = Callable[[], Client]


def wait_until(reached: Callable[[], Any]) -> Any:
    """What `reached` returns once that is true."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if found := reached():
            return found
        time.sleep(0.1)
    pytest.fail("it did not happen")


@pytest.fixture
def going(newcomer: Newcomer, tiny_model: str) -> Iterator[tuple[Client, str, Job]]:
    """A client, its long run that has made a step, and the stream of it; stopped at the end."""
    visitor = newcomer()
    stream = visitor.submit(model=tiny_model, **LONG, api_name="/train")
    wait_until(lambda: any(len(shown[-1]["data"]) > 2 for shown in stream.outputs()))
    run = newest(visitor)["run"]
    yield visitor, run, stream
    if any(row["run"] == run for row in rows(visitor.predict(api_name="/runs"))):
        visitor.predict(run=run, api_name="/stop_run")
    stream.result(timeout=PATIENCE)


def status(client: Client, run: str, **as_whom: str) -> str:
    return {row["run"]: row["status"] for row in rows(client.predict(**as_whom, api_name="/runs"))}[run]


def is_in_order(curve: list[dict[str, Any]]) -> bool:
    steps = [row["step"] for row in curve]
    return steps[0] == 0 and steps == sorted(set(steps))


def test_train_streams_its_curve_and_stop_keeps_what_was_learned(going: tuple[Client, str, Job]) -> None:
    client, run, stream = going
    assert status(client, run) == "running"
    client.predict(run=run, api_name="/stop_run")
    last = stream.result(timeout=PATIENCE)
    lengths = [len(shown[-1]["data"]) for shown in stream.outputs()]
    assert lengths == sorted(lengths)
    assert len(set(lengths)) >= 3, "results came while it trained, not only at its end"
    assert columns(last) == ["step", "loss", "metric"]
    curve = rows(last)
    assert is_in_order(curve)
    assert all(row["loss"] > 0 for row in curve if row["loss"] is not None)
    assert sum(row["loss"] is not None for row in curve) >= 2
    assert curve[0]["loss"] is None
    assert sum(row["metric"] is not None for row in curve) >= 1
    assert status(client, run) == "stopped"
    assert rows(client.predict(run=run, sentence_a=SENTENCE, api_name="/predict_run"))


def test_a_short_run_ends_by_itself_and_measures_before_and_after(client: Client, tiny_model: str) -> None:
    curve = rows(client.predict(model=tiny_model, **QUICK, api_name="/train"))
    assert [row["step"] for row in curve] == [0, 1, 2]
    assert 0 <= curve[0]["metric"] <= 1
    assert 0 <= curve[-1]["metric"] <= 1


def test_the_same_settings_and_seed_give_the_same_curve(client: Client, tiny_model: str) -> None:
    one, other = (rows(client.predict(model=tiny_model, **QUICK, seed=3, api_name="/train")) for _ in range(2))
    assert one == other
    assert one != rows(client.predict(model=tiny_model, **QUICK, seed=4, api_name="/train"))


def test_parameters_without_names_are_taken_in_their_documented_order(client: Client, tiny_model: str) -> None:
    client.predict(tiny_model, "rte", "lora", 2, 4, ["value"], 0.01, 1, 8, 16, 5, api_name="/train")
    run = newest(client)
    asked = {name: run[name] for name in ("model", "method", "learning_rate", "epochs", "batch_size", "seed")}
    assert asked == {
        "model": tiny_model,
        "method": "lora",
        "learning_rate": 0.01,
        "epochs": 1,
        "batch_size": 8,
        "seed": 5,
    }
    assert run["task"].startswith("RTE")
    spectrum = rows(client.predict(run=run["run"], api_name="/delta_spectrum"))
    assert {(row["layer"], row["module"], row["index"]) for row in spectrum} == {
        (layer, "value", index) for layer in (0, 1) for index in (1, 2)
    }


def test_a_run_is_looked_at_again_while_it_trains(going: tuple[Client, str, Job], newcomer: Newcomer) -> None:
    """Whoever has the link may look."""
    client, run, _ = going
    stream = newcomer().submit(run=run, api_name="/follow_run")
    wait_until(lambda: len(stream.outputs()) >= 2)
    client.predict(run=run, api_name="/stop_run")
    assert len(rows(stream.result(timeout=PATIENCE))) > 2


class TestOwners:
    def test_everybody_lists_their_own_runs_and_the_examples(
        self, client: Client, trained: str, newcomer: Newcomer
    ) -> None:
        stranger = newcomer()
        mine = {row["run"] for row in rows(client.predict(api_name="/runs"))}
        theirs = {row["run"] for row in rows(stranger.predict(api_name="/runs"))}
        assert trained in mine
        assert theirs
        assert all(run.startswith("example-") for run in theirs)
        assert theirs < mine

    def test_the_lecturer_lists_everybodys(self, client: Client, trained: str, newcomer: Newcomer) -> None:
        stranger = newcomer()
        listed = {row["run"] for row in rows(stranger.predict(visitor=LECTURER, api_name="/runs"))}
        assert {row["run"] for row in rows(client.predict(api_name="/runs"))} <= listed

    def test_no_name_that_a_visitor_makes_up_opens_other_runs(self, trained: str, newcomer: Newcomer) -> None:
        stranger = newcomer()
        for name in ("*", "lecturer:", "lecturer:wrong", "example", "script", "client-", "nobody"):
            listed = {row["run"] for row in rows(stranger.predict(visitor=name, api_name="/runs"))}
            assert all(run.startswith("example-") for run in listed), name

    def test_a_visitors_own_name_goes_from_client_to_client(self, newcomer: Newcomer, tiny_model: str) -> None:
        newcomer().predict(model=tiny_model, **QUICK, visitor="my own secret", api_name="/train")
        assert newest(newcomer(), visitor="my own secret")["model"] == tiny_model

    def test_nobody_stops_deletes_or_resumes_anothers_run_but_the_lecturer(
        self, going: tuple[Client, str, Job], newcomer: Newcomer
    ) -> None:
        client, run, stream = going
        stranger = newcomer()
        for verb in ("stop", "delete", "resume"):
            for name in ("", "*", "lecturer:wrong", "example", "anybody"):
                assert "not yours" in refusal(stranger, f"/{verb}_run", run=run, visitor=name), (verb, name)
            assert status(client, run) == "running"
        teacher = newcomer()
        teacher.predict(run=run, visitor=LECTURER, api_name="/stop_run")
        stream.result(timeout=PATIENCE)
        teacher.predict(run=run, visitor=LECTURER, api_name="/delete_run")
        assert run not in {row["run"] for row in rows(client.predict(api_name="/runs"))}
        assert "No run is called" in refusal(client, "/follow_run", run=run)

    @pytest.mark.parametrize("verb", ["stop", "delete", "resume"])
    def test_not_even_the_lecturer_harms_an_example(self, client: Client, verb: str) -> None:
        for name in (LECTURER, "", "example", "anybody"):
            assert "worked example" in refusal(client, f"/{verb}_run", run="example-lora-8", visitor=name), name
        assert rows(client.predict(run="example-lora-8", sentence_a=SENTENCE, api_name="/predict_run"))

    def test_a_run_is_stopped_resumed_and_deleted_by_its_owner(self, going: tuple[Client, str, Job]) -> None:
        client, run, stream = going
        assert "still trains" in refusal(client, "/delete_run", run=run)
        client.predict(run=run, api_name="/stop_run")
        before = len(rows(stream.result(timeout=PATIENCE)))
        client.predict(run=run, api_name="/resume_run")
        resumed = client.submit(run=run, api_name="/follow_run")
        wait_until(lambda: any(len(shown[-1]["data"]) > before for shown in resumed.outputs()))
        client.predict(run=run, api_name="/stop_run")
        curve = rows(resumed.result(timeout=PATIENCE))
        assert is_in_order(curve), "it went on where it had stopped"
        client.predict(run=run, api_name="/delete_run")
        assert "No run is called" in refusal(client, "/predict_run", run=run, sentence_a=SENTENCE)


class TestAfterwards:
    def test_a_run_answers_beside_its_untrained_start(self, client: Client) -> None:
        answer = client.predict(run="example-lora-8", sentence_a=SENTENCE, api_name="/predict_run")
        assert columns(answer) == ["model", "class", "logit", "probability"]
        found = {(row["model"], row["class"]): row["probability"] for row in rows(answer)}
        assert set(found) == {(model, name) for model in ("base", "adapted") for name in ("negative", "positive")}
        for model in ("base", "adapted"):
            assert found[model, "negative"] + found[model, "positive"] == pytest.approx(1, abs=1e-6)
        assert found["adapted", "positive"] > 0.8
        assert abs(found["base", "positive"] - 0.5) < 0.3

    def test_a_batch_mixes_adapters_without_mixing_answers(self, client: Client, trained: str, tiny_model: str) -> None:
        client.predict(model=tiny_model, **QUICK, rank=2, seed=1, api_name="/train")
        runs = [trained, newest(client)["run"]]
        found = rows(client.predict(runs=runs, sentence_a=SENTENCE, api_name="/swap_runs"))
        assert [row["row"] for row in found] == [0, 1]
        for run, row in zip(runs, found, strict=True):
            assert row["in_the_batch"] == row["alone"]
            assert row["max_difference"] < 1e-5
            alone = rows(client.predict(run=run, sentence_a=SENTENCE, api_name="/predict_run"))
            best = max(alone[2:], key=lambda entry: entry["probability"])
            assert row["alone"].startswith(best["class"])

    def test_runs_of_different_models_share_no_batch(self, client: Client, trained: str) -> None:
        said = refusal(client, "/swap_runs", runs=[trained, "example-lora-8"], sentence_a=SENTENCE)
        assert "different models" in said

    def test_merging_changes_nothing_and_base_differs(self, client: Client) -> None:
        answer = client.predict(run="example-lora-8", api_name="/merge_check")
        assert columns(answer)[:5] == ["form", "max_difference", "milliseconds", "low", "high"]
        found = {row["form"]: row for row in rows(answer)}
        assert list(found) == ["base", "attached", "merged"]
        assert found["merged"]["max_difference"] < 1e-4
        assert found["base"]["max_difference"] > 0.1
        assert all(row["milliseconds"] > 0 for row in found.values())

    def test_every_method_is_timed_beside_the_plain_model(self, client: Client, tiny_model: str) -> None:
        asked = {"model": tiny_model, "batch": 2, "length": 8, "repeats": 2}
        found = rows(client.predict(**asked, methods="lora, houlsby, bitfit", api_name="/latency"))
        assert [(row["method"], row["form"]) for row in found] == [
            ("", "plain"),
            ("lora", "attached"),
            ("lora", "merged"),
            ("houlsby", "attached"),
            ("bitfit", "plain"),
        ]
        assert all(row["milliseconds"] > 0 for row in found)
        assert all(row["ratio_low"] <= row["ratio"] <= row["ratio_high"] for row in found)
        added = {(row["method"], row["form"]): row["added"] for row in found}
        assert added["lora", "attached"] > 0
        assert added["lora", "merged"] == added["bitfit", "plain"] == 0
        assert "from 2 to 512" in refusal(client, "/latency", **{**asked, "length": 600})

    def test_what_cannot_be_merged_is_said(self, client: Client, tiny_model: str) -> None:
        client.predict(model=tiny_model, **QUICK, method="houlsby", api_name="/train")
        said = refusal(client, "/merge_check", run=newest(client)["run"])
        assert "merged" in said


class TestFiles:
    def test_an_adapter_goes_home_and_comes_back_with_the_same_answer(
        self, client: Client, trained: str, tiny_model: str
    ) -> None:
        file = client.predict(run=trained, kind="adapter", api_name="/export_run")
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            config = json.loads(archive.read("adapter_config.json"))
        assert {"adapter_config.json", "adapter_model.safetensors", "README.md", "train.py"} <= names
        assert (config["peft_type"], config["r"], config["base_model_name_or_path"]) == ("LORA", 8, tiny_model)
        back = client.predict(file=handle_file(file), api_name="/import_adapter")
        assert newest(client)["run"] == back
        assert status(client, back) == "imported"
        answers = [
            [row["logit"] for row in rows(client.predict(run=run, sentence_a=SENTENCE, api_name="/predict_run"))[2:]]
            for run in (trained, back)
        ]
        assert answers[0] == pytest.approx(answers[1], abs=1e-5)
        spectra = [
            [row["singular_value"] for row in rows(client.predict(run=run, api_name="/delta_spectrum"))]
            for run in (trained, back)
        ]
        assert spectra[0] == pytest.approx(spectra[1], abs=1e-6)

    def test_a_merged_checkpoint_is_whole(self, client: Client, trained: str, tmp_path: Path) -> None:
        from transformers import pipeline

        file = client.predict(run=trained, kind="merged", api_name="/export_run")
        with zipfile.ZipFile(file) as archive:
            archive.extractall(tmp_path)
        assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= {
            path.name for path in tmp_path.iterdir()
        }
        scores = pipeline("text-classification", model=str(tmp_path), device="cpu", top_k=None)([SENTENCE])[0]
        ours = rows(client.predict(run=trained, sentence_a=SENTENCE, api_name="/predict_run"))[2:]
        assert {score["label"]: score["score"] for score in scores} == pytest.approx(
            {row["class"]: row["probability"] for row in ours}, abs=1e-5
        )

    def test_an_unknown_kind_names_those_there_are(self, client: Client, trained: str) -> None:
        assert "adapter, merged" in refusal(client, "/export_run", run=trained, kind="everything")

    def test_a_pickle_is_refused_with_the_reason_and_never_opened(self, client: Client, tmp_path: Path) -> None:
        opened = tmp_path / "opened"
        file = tmp_path / "adapter_model.bin"
        file.write_bytes(f"cos\nsystem\n(S'touch {opened}'\ntR.".encode())
        said = refusal(client, "/import_adapter", file=handle_file(str(file)))
        assert "pickle" in said
        assert "code" in said
        assert not opened.exists()

    def test_a_zip_without_an_adapter_names_what_is_missing(self, client: Client, tmp_path: Path) -> None:
        file = tmp_path / "holiday.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("photo.jpg", b"no adapter")
        assert "adapter" in refusal(client, "/import_adapter", file=handle_file(str(file)))

    def test_exports_are_the_visitors_who_knows_the_run(self, client: Client, trained: str) -> None:
        said = refusal(client, "/export_run", run=trained[:-1], kind="adapter")
        assert "No run is called" in said


class TestUploads:
    def keep(self, client: Client, folder: Path, name: str, content: str) -> str:
        file = folder / name
        file.write_text(content, encoding="utf-8")
        return str(client.predict(file=handle_file(str(file)), api_name="/upload_task"))

    def test_a_file_becomes_a_task_that_trains(self, client: Client, tiny_model: str, tmp_path: Path) -> None:
        lines = [f"Sentence number {count} is here.,{('lies', 'truth')[count % 2]}" for count in range(40)]
        said = self.keep(client, tmp_path, "own.csv", "\n".join(["claim,verdict", *lines]))
        task = said.split(":")[0]
        assert task.startswith("file-")
        assert "32 examples to train on and 8 held out" in said
        assert "lies, truth" in said
        client.predict(model=tiny_model, task=task, epochs=1, api_name="/train")
        run = newest(client)
        assert run["task"] == "own.csv"
        answer = client.predict(run=run["run"], sentence_a="Is it here?", api_name="/predict_run")
        assert {row["class"] for row in rows(answer)} == {"lies", "truth"}

    def test_emoji_in_column_names_and_labels_are_nothing_special(
        self, client: Client, tiny_model: str, tmp_path: Path
    ) -> None:
        lines = [f"Text {count} 🎉\t{('👍', '👎')[count % 2]}" for count in range(30)]
        task = self.keep(client, tmp_path, "emoji 😀.tsv", "\n".join(["💬\t🏷️", *lines])).split(":")[0]
        client.predict(model=tiny_model, task=task, epochs=1, api_name="/train")
        answer = client.predict(run=newest(client)["run"], sentence_a="🎉", api_name="/predict_run")
        assert {row["class"] for row in rows(answer)} == {"👍", "👎"}

    def test_pairs_and_scores_are_found_and_asked_for(self, client: Client, tiny_model: str, tmp_path: Path) -> None:
        lines = [
            json.dumps({"first": f"One {count}.", "second": f"Two {count}.", "score": count / 7}) for count in range(30)
        ]
        said = self.keep(client, tmp_path, "pairs.jsonl", "\n".join(lines))
        assert "scores" in said
        client.predict(model=tiny_model, task=said.split(":")[0], epochs=1, api_name="/train")
        run = newest(client)["run"]
        assert "second" in refusal(client, "/predict_run", run=run, sentence_a="One.")
        found = rows(client.predict(run=run, sentence_a="One.", sentence_b="Two.", api_name="/predict_run"))
        assert [row["model"] for row in found] == ["base", "adapted"]
        assert all(row["probability"] is None for row in found)

    def test_the_uploaded_file_itself_may_go(self, client: Client, tmp_path: Path, data_folder: Path) -> None:
        said = self.keep(client, tmp_path, "kept.csv", "text,label\n" + "a b,x\nc d,y\ne f,x\ng h,y\n" * 8)
        shutil.rmtree(tmp_path)
        kept = data_folder / "uploads" / said.split(":")[0].removeprefix("file-")
        assert (kept / "train").is_file()


class TestMemory:
    def test_its_parts_are_the_plan_s_and_grow_with_the_batch(self, client: Client, tiny_model: str) -> None:
        asked = {"model": tiny_model, "method": "bitfit"}
        found = {
            batch: {
                (row["method"], row["part"]): row["bytes"]
                for row in rows(client.predict(**asked, batch_size=batch, api_name="/memory_parts"))
            }
            for batch in (4, 8)
        }
        trained = {method for method, part in found[4] if part == "gradients"}
        assert trained == {"Full fine-tuning", "LoRA r=8", "BitFit"}
        for method in trained:
            one, other = found[4], found[8]
            assert one[method, "moments"] == 2 * one[method, "gradients"] == other[method, "moments"]
            assert other[method, "activations"] == pytest.approx(2 * one[method, "activations"], rel=0.2)
        assert found[4]["Full fine-tuning", "checkpoint, float16"] == 2 * 175_255_800_000

    @pytest.mark.parametrize(
        ("given", "hint"),
        [
            ({"method": "magic"}, "There is no method"),
            ({"rank": 0}, "rank must be"),
            ({"run": "x"}, "No run is called"),
        ],
    )
    def test_what_is_no_run_has_no_memory(self, client: Client, given: dict[str, Any], hint: str) -> None:
        assert hint in refusal(client, "/memory_parts", **given)


class TestCompared:
    def test_methods_side_by_side(self, client: Client, tiny_model: str) -> None:
        answer = client.predict(model=tiny_model, methods=["lora", "head"], **QUICK, api_name="/compare_methods")
        *found, counted = rows(answer)
        assert [row["method"] for row in found] == ["lora", "head"]
        assert {row["status"] for row in found} == {"done"}
        assert (counted["method"], counted["name"]) == ("tfidf", "TF-IDF + logistic regression")
        assert counted["trainable"] > 0
        assert found[0]["trainable"] > found[1]["trainable"] > 0
        assert found[0]["checkpoint_mb"] > 0
        assert all(0 <= row["score"] <= 1 and row["seconds"] > 0 for row in found)

    def test_methods_may_come_as_a_text(self, client: Client, tiny_model: str) -> None:
        answer = client.predict(model=tiny_model, methods="ia3, bitfit", **QUICK, api_name="/compare_methods")
        assert [row["method"] for row in rows(answer)] == ["ia3", "bitfit", "tfidf"]

    def test_the_plan_counts_what_is_then_trained(self, client: Client, trained: str, tiny_model: str) -> None:
        answer = client.predict(model=tiny_model, **QUICK, api_name="/plan_run")
        planned = rows(answer)
        assert "CONFIG = LoraConfig(" in answer[1]
        assert f"MODEL = {tiny_model!r}" in answer[1]
        run = next(row for row in rows(client.predict(api_name="/runs")) if row["run"] == trained)
        assert sum(row["trainable"] for row in planned) == run["trainable"]
        assert 0 < sum(row["share"] for row in planned) < 1
