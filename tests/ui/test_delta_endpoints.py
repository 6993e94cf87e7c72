"""The endpoints that look into ΔW, against what can be said of their answers without them."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client, handle_file
from safetensors.numpy import load

from explorer.labs.delta import forgetting_jobs
from explorer.settings import BUNDLED_RUNS
from tests.rows import each_row
from tests.ui.conftest import QUICK, columns, newest, refusal, rows

EXAMPLE, LAYERS = "example-lora-8", 6
FACTOR = "base_model.model.bert.encoder.layer.{}.attention.self.{}.lora_{}.weight"


@pytest.fixture(scope="module")
def product(client: Client, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], Any]:
    """ΔW of the example by (layer, module), multiplied out with numpy from what a visitor takes home."""
    file = client.predict(run=EXAMPLE, kind="adapter", api_name="/export_run")
    with zipfile.ZipFile(file) as archive:
        tensors = load(archive.read("adapter_model.safetensors"))
    scale = 16 / 8
    return {
        (layer, module): scale
        * (tensors[FACTOR.format(layer, module, "B")] @ tensors[FACTOR.format(layer, module, "A")]).astype(float)
        for layer in range(LAYERS)
        for module in ("query", "value")
    }


@pytest.fixture(scope="module")
def pair(client: Client, trained: str, tiny_model: str) -> tuple[str, str]:
    """Two LoRA runs of one model, of rank 8 and 2."""
    client.predict(model=tiny_model, **QUICK, rank=2, seed=1, api_name="/train")
    return trained, newest(client)["run"]


class TestSpectrum:
    def test_it_is_that_of_the_product_that_goes_home(
        self, client: Client, product: dict[tuple[int, str], Any]
    ) -> None:
        answer = client.predict(run=EXAMPLE, api_name="/delta_spectrum")
        assert columns(answer) == ["layer", "module", "index", "singular_value"]
        found: dict[tuple[int, str], list[float]] = {}
        for row in rows(answer):
            values = found.setdefault((row["layer"], row["module"]), [])
            assert row["index"] == len(values) + 1
            values.append(row["singular_value"])
        assert found.keys() == product.keys()
        for site, values in found.items():
            expected = np.linalg.svd(product[site], compute_uv=False)[: len(values)]
            assert values == pytest.approx(expected, rel=1e-4, abs=1e-6)

    def test_without_a_step_it_is_the_last_one(self, client: Client, tiny_model: str) -> None:
        """Also of a run that has more steps than the page's slider has before it knows the run."""
        client.predict(model=tiny_model, rank=1, epochs=2, batch_size=4, api_name="/train")
        run = newest(client)["run"]
        last, at_100, at_240 = (
            rows(client.predict(run=run, **step, api_name="/delta_spectrum"))
            for step in ({}, {"step": 100}, {"step": 240})
        )
        assert last == at_240
        assert last != at_100

    def test_it_grows_from_step_to_step(self, client: Client) -> None:
        kept = sorted(int(path.stem) for path in (BUNDLED_RUNS / EXAMPLE / "snapshots").iterdir())
        norms = []
        for step in (kept[0], kept[len(kept) // 2], kept[-1]):
            values = rows(client.predict(run=EXAMPLE, step=step, api_name="/delta_spectrum"))
            norms.append(math.hypot(*(row["singular_value"] for row in values)))
        assert norms == sorted(norms)
        assert norms[0] < 0.5 * norms[-1]

    def test_a_step_between_two_that_were_kept_takes_the_nearer(self, client: Client) -> None:
        kept = sorted(int(path.stem) for path in (BUNDLED_RUNS / EXAMPLE / "snapshots").iterdir())
        nearest, beyond = (
            rows(client.predict(run=EXAMPLE, step=step, api_name="/delta_spectrum")) for step in (kept[-1] - 1, 10**6)
        )
        assert nearest == beyond

    def test_following_a_finished_run_gives_its_spectrum(self, client: Client) -> None:
        followed = rows(client.predict(run=EXAMPLE, api_name="/follow_delta"))
        assert followed == rows(client.predict(run=EXAMPLE, api_name="/delta_spectrum"))

    def test_full_fine_tuning_has_one_for_every_matrix(self, client: Client, tiny_model: str) -> None:
        client.predict(model=tiny_model, **QUICK, method="full", api_name="/train")
        found = rows(client.predict(run=newest(client)["run"], api_name="/delta_spectrum"))
        sites = {(row["layer"], row["module"]) for row in found}
        assert sites == {
            (layer, name) for layer in (0, 1) for name in ("query", "key", "value", "output", "ffn_in", "ffn_out")
        }
        assert max(row["index"] for row in found) == 32

    def test_a_method_without_an_update_of_w_says_so(self, client: Client, tiny_model: str) -> None:
        client.predict(model=tiny_model, **QUICK, method="prompt", api_name="/train")
        said = refusal(client, "/delta_spectrum", run=newest(client)["run"])
        assert "there is no ΔW" in said
        assert "Choose a LoRA run" in said

    @pytest.mark.parametrize("step", [-1, "last"])
    def test_a_step_that_is_none_is_refused(self, client: Client, step: Any) -> None:
        assert "step must be a whole number" in refusal(client, "/delta_spectrum", run=EXAMPLE, step=step)


class TestSubspaces:
    def test_phi_is_a_share_and_symmetric_in_its_runs(self, client: Client, pair: tuple[str, str]) -> None:
        answer = client.predict(run_a=pair[0], run_b=pair[1], api_name="/subspace_similarity")
        assert columns(answer) == ["i", "j", "phi"]
        phi = {(row["i"], row["j"]): row["phi"] for row in rows(answer)}
        assert set(phi) == {(i, j) for i in range(1, 9) for j in (1, 2)}
        assert all(-1e-6 <= value <= 1 + 1e-6 for value in phi.values())
        turned = rows(client.predict(run_a=pair[1], run_b=pair[0], api_name="/subspace_similarity"))
        assert {(row["j"], row["i"]): row["phi"] for row in turned} == pytest.approx(phi, abs=1e-5)

    def test_a_run_is_like_itself(self, client: Client) -> None:
        found = rows(
            client.predict(run_a=EXAMPLE, run_b=EXAMPLE, layer=2, module="value", api_name="/subspace_similarity")
        )
        assert all(row["phi"] == pytest.approx(1, abs=1e-4) for row in found if row["i"] == row["j"])

    def test_two_widths_have_no_subspace_in_common(self, client: Client, trained: str) -> None:
        said = refusal(client, "/subspace_similarity", run_a=EXAMPLE, run_b=trained)
        assert "different widths" in said

    @pytest.mark.parametrize(
        ("place", "hint"),
        [({"layer": LAYERS}, "layers 0 to 5"), ({"layer": -1}, "layer must be"), ({"module": "key"}, "query, value")],
        ids=str,
    )
    def test_a_matrix_that_was_not_adapted_names_those_that_were(
        self, client: Client, place: dict[str, Any], hint: str
    ) -> None:
        assert hint in refusal(client, "/subspace_similarity", run_a=EXAMPLE, run_b=EXAMPLE, **place)


class TestAmplification:
    def test_the_factor_is_the_quotient_of_the_norms(self, client: Client, product: dict[tuple[int, str], Any]) -> None:
        answer = client.predict(run=EXAMPLE, layer=1, module="query", r=4, api_name="/amplification")
        assert columns(answer) == ["directions", "projected_norm", "factor"]
        found = {row["directions"]: row for row in rows(answer)}
        assert list(found) == ["ΔW", "W", "random"]
        values = np.linalg.svd(product[1, "query"], compute_uv=False)
        norm = float(np.linalg.norm(values[:4]))
        assert norm < np.linalg.norm(values), "the run's rank is 8: both sides of the quotient are of four directions"
        for row in found.values():
            assert row["projected_norm"] * row["factor"] == pytest.approx(norm, rel=1e-4)
        assert found["W"]["projected_norm"] > found["ΔW"]["projected_norm"]
        assert found["W"]["projected_norm"] > found["random"]["projected_norm"]

    @pytest.mark.parametrize(("r", "hint"), [(0, "r must be"), (9, "from 1 to 8"), ("all", "r must be")])
    def test_directions_that_are_not_there_are_refused(self, client: Client, r: Any, hint: str) -> None:
        assert hint in refusal(client, "/amplification", run=EXAMPLE, r=r)

    def test_every_layer_of_two_runs(self, client: Client, pair: tuple[str, str]) -> None:
        answer = client.predict(run_a=pair[0], run_b=pair[1], r=2, api_name="/amplification_by_layer")
        found = rows(answer)
        assert [row["layer"] for row in found] == [0, 1, 0, 1]
        assert all(row["factor"] > 0 and 0 < row["energy_share"] <= 1 + 1e-6 for row in found)

    def test_where_it_lies_adds_up_to_all_of_it(self, client: Client) -> None:
        answer = client.predict(run=EXAMPLE, layer=0, module="query", api_name="/placement")
        names, found = columns(answer), rows(answer)
        assert "right" in " ".join(names)
        shares = [name for name in names if isinstance(found[0][name], float)]
        for name in shares:
            assert sum(row[name] for row in found) == pytest.approx(1, abs=1e-3)

    def test_lora_beside_full_fine_tuning(self, client: Client, tiny_model: str) -> None:
        found = rows(client.predict(model=tiny_model, module="value", r=2, api_name="/compare_amplification"))
        names = list(dict.fromkeys(row["run"] for row in found))
        assert [name.split(" · ")[0] for name in names] == ["LoRA r=8", "Full fine-tuning"]
        assert {row["module"] for row in found} == {"value"}
        assert len(found) == 4


class TestBesideW:
    def test_the_update_s_spectrum_is_whole_and_w_s_is_longer(
        self, client: Client, product: dict[tuple[int, str], Any]
    ) -> None:
        found = rows(client.predict(run=EXAMPLE, layer=5, module="query", api_name="/weight_spectrum"))
        assert len(found) == 768
        values = np.linalg.svd(product[5, "query"], compute_uv=False)[:8]
        assert [row["update_value"] for row in found[:8]] == pytest.approx(values, rel=1e-4)
        assert found[-1]["weight_energy"] == pytest.approx(1)
        assert found[7]["weight_energy"] < 0.2 < found[7]["update_energy"]

    def test_a_layer_that_is_not_there_is_refused(self, client: Client) -> None:
        assert "layers 0 to 5" in refusal(client, "/weight_spectrum", run=EXAMPLE, layer=6)
        assert "layers 0 to 5" in refusal(client, "/intruder_dimensions", run_a=EXAMPLE, run_b=EXAMPLE, layer=6)

    def test_intruders_are_those_below_the_threshold(self, client: Client, pair: tuple[str, str]) -> None:
        asked = {"run_a": pair[0], "run_b": pair[1], "layer": 1, "k": 4}
        found = rows(client.predict(**asked, epsilon=0.9, api_name="/intruder_dimensions"))
        assert [(row["layer"], row["vector"]) for row in found] == 2 * [
            (one, k) for one in (0, 1) for k in (1, 2, 3, 4)
        ]
        assert all(row["intruder"] == int(row["largest_cosine"] < 0.9) for row in found)
        again = rows(client.predict(**asked, epsilon=0.0, api_name="/intruder_dimensions"))
        assert not any(row["intruder"] for row in again)

    @pytest.mark.parametrize(("given", "hint"), [({"k": 0}, "k must be"), ({"epsilon": 1.5}, "epsilon must be")])
    def test_what_no_threshold_is_is_refused(self, client: Client, given: dict[str, Any], hint: str) -> None:
        assert hint in refusal(client, "/intruder_dimensions", run_a=EXAMPLE, run_b=EXAMPLE, **given)

    def test_lora_and_full_are_trained_for_it(self, client: Client, tiny_model: str) -> None:
        asked = {"model": tiny_model, "module": "value", "layer": 0, "k": 3}
        found = rows(client.predict(**asked, api_name="/train_intruders"))
        names = list(dict.fromkeys(row["run"].split(" · ")[0] for row in found))
        assert names == ["LoRA r=8", "Full fine-tuning"]
        assert len(found) == 2 * 2 * 3


class TestForgetting:
    def test_a_head_alone_forgets_nothing_and_virtual_tokens_are_left_out(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows_of = forgetting_jobs.held_out_rows
        # A hundred sentences of four hundred: what LoRA has forgotten is four standard errors there too.
        monkeypatch.setattr(forgetting_jobs, "held_out_rows", lambda loaded, texts: rows_of(loaded, texts[:100]))
        asked = ["example-head", "example-lora-64", "example-prompt"]
        before, head, lora = rows(client.predict(runs=asked, api_name="/forgetting"))
        assert before["accuracy"] == head["accuracy"] > lora["accuracy"]
        assert head["accuracy_change"] == head["change_low"] == head["loss_change"] == 0
        assert lora["accuracy"] - before["accuracy"] == pytest.approx(lora["accuracy_change"])
        assert lora["change_high"] < 0 < lora["loss_change_low"]

    @each_row(
        ("runs", "hint"),
        [
            ([], "Choose 1 to 12 runs"),
            (["example-prompt"], "every weight of the body stays"),
            (["example-full"], "cannot be asked"),
            (["example-nothing"], "began from nothing"),
            (["nobodys"], "No run is called"),
        ],
    )
    def test_what_has_no_before_and_after_says_why(self, client: Client, runs: list[str], hint: str) -> None:
        assert hint in refusal(client, "/forgetting", runs=runs)

    def test_runs_of_two_models_are_not_compared(self, client: Client, trained: str) -> None:
        assert "different models" in refusal(client, "/forgetting", runs=[EXAMPLE, trained])


class TestSweep:
    def test_two_ranks(self, client: Client, tiny_model: str) -> None:
        answer = client.predict(model=tiny_model, ranks="1, 4", epochs=1, api_name="/sweep_ranks")
        assert columns(answer) == ["rank", "metric", "trainable"]
        one, four = rows(answer)
        assert (one["rank"], four["rank"]) == (1, 4)
        head = one["trainable"] - (four["trainable"] - one["trainable"]) / 3
        assert head == 2 * 32 + 2, "all but the head grows with the rank"

    @pytest.mark.parametrize(
        ("ranks", "hint"),
        [
            ("", "ranks must be a whole number"),
            ("8, 8", "different ranks"),
            ("0, 1", "ranks must be a whole number from 1"),
            ("two", "ranks must be a whole number"),
            ("1,2,3,4,5,6,7,8,9,10,11", "Give 1 to 10"),
            ("5000", "ranks must be a whole number from 1 to 4,096"),
        ],
    )
    def test_ranks_that_are_none_start_no_run(self, client: Client, tiny_model: str, ranks: str, hint: str) -> None:
        before = len(rows(client.predict(api_name="/runs")))
        assert hint in refusal(client, "/sweep_ranks", model=tiny_model, ranks=ranks, epochs=1)
        assert len(rows(client.predict(api_name="/runs"))) == before


class TestRealAdapter:
    @pytest.fixture(scope="class")
    def imported(self, client: Client, tmp_path_factory: pytest.TempPathFactory) -> str:
        """The authors' adapter, converted by the documented command; its base model is not on this machine."""
        source = Path(__file__).resolve().parents[3] / "shared" / "data" / "lora" / "roberta_base_lora_mnli.bin"
        if not source.is_file():
            pytest.skip("the LoRA authors' adapter is not on this machine")
        from explorer.tuning.__main__ import main

        target = tmp_path_factory.mktemp("adapter") / "mnli.zip"
        main(["convert", str(source), str(target)])
        return str(client.predict(file=handle_file(str(target)), api_name="/import_adapter"))

    def test_its_figures_are_those_that_are_known(self, client: Client, imported: str) -> None:
        energies: dict[tuple[int, str], list[float]] = {}
        for row in rows(client.predict(run=imported, api_name="/delta_spectrum")):
            energies.setdefault((row["layer"], row["module"]), []).append(row["singular_value"] ** 2)
        norms = [math.sqrt(sum(energies[layer, "query"])) for layer in range(12)]
        assert min(norms) == pytest.approx(7.6, abs=0.1)
        assert max(norms) == pytest.approx(14.4, abs=0.1)
        assert energies[11, "query"][0] / sum(energies[11, "query"]) > 0.985

    def test_what_needs_w_says_that_it_is_missing(self, client: Client, imported: str) -> None:
        assert "not on this machine" in refusal(client, "/amplification", run=imported)
        assert refusal(client, "/predict_run", run=imported, sentence_a="It rains.", sentence_b="It is wet.")
