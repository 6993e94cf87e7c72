"""Probes of the layers: labels and controls, every family, bert-small's selectivity, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch

import explorer
from explorer.errors import BadInputError
from explorer.labs.context import probe_jobs
from explorer.labs.context.probe import (
    PROBE_LAYERS,
    TASKS,
    LabelledWord,
    Probed,
    ProbedModel,
    ProbeParams,
    ProbeResult,
    control_labels,
    examples,
    probe_bar,
    probe_figure,
    probe_notes,
    probe_sentence,
    probe_table,
)
from explorer.models.encoding import encode
from explorer.models.families import ARCHITECTURES
from explorer.models.inside import depth_of, read
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from explorer.worked import known
from tests.models.tiny import save

FAMILIES = [entry.family for entry in ARCHITECTURES]


class Opens:
    """Resources that hold one model."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded

    def model(self, name: str) -> LoadedModel:
        return self.loaded


@torch.inference_mode()
def steps(loaded: LoadedModel, **asked: Any) -> Iterator[ProbeResult]:
    for found in probe_jobs.probe_layers(Opens(loaded), ProbeParams(models=("one",), **asked)):  # type: ignore[arg-type]
        if found is not None:
            yield found


@pytest.fixture(scope="module", params=FAMILIES)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(str(save(tmp_path_factory.mktemp("probe") / "model", request.param)), Settings(device="cpu"))


def worked(task: str) -> ProbeResult:
    found = known("probe_layers", PROBE_LAYERS.openings, "", ProbeParams(task))
    assert found
    result: ProbeResult = found.result
    return result


def test_every_family_is_probed_at_each_depth_and_layer_0_has_no_neighbours(opened: LoadedModel) -> None:
    found = list(steps(opened, task="sense"))
    layers = found[-1].probed[0].layers
    assert [layer.layer for layer in layers] == list(range(depth_of(opened.model) + 1))
    assert [len(one.probed[0].layers) for one in found] == list(range(1, len(layers) + 1)), "a layer at a time"
    assert [one.is_done for one in found] == [False] * (len(found) - 1) + [True]
    # At most its position differs there, so in each of the three sentences one of two senses is guessed.
    assert layers[0].accuracy < 0.7


def test_states_are_the_models_own_with_the_mean_of_a_words_pieces(opened: LoadedModel) -> None:
    data = probe_jobs._data("sense", 0)
    states = None
    with torch.inference_mode():
        running = probe_jobs._states(opened, "sense", data)
        while states is None:
            try:
                next(running)
            except StopIteration as stopped:
                states = stopped.value
        for number in (0, 7, 500, len(data.words) - 1):
            example, word = examples("sense")[data.sentences[number]], data.words[number]
            encoded = encode(opened, example.text)
            alone = torch.stack(read(opened, encoded.inputs, attentions=False).hidden_states)[:, 0]
            pieces = [t.position for t in encoded.tokens if t.start < word.stop and t.stop > word.start]
            torch.testing.assert_close(states[:, number], alone[:, pieces].mean(1), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_bert_smalls_probe_is_ten_points_above_its_control_in_some_layer(task: str) -> None:
    bert = worked(task).drawn("bert-small")
    assert max(layer.selectivity for layer in bert.layers) > 0.1
    assert bert.best.layer > 0, "the layers add what the embeddings lack"


def test_the_bundled_answer_is_what_bert_mini_says_today() -> None:
    answer: ProbeResult = explorer.run("probe_layers", models="bert-mini").result
    for layer, kept in zip(answer.probed[0].layers, worked("sense").drawn("bert-mini").layers, strict=True):
        assert layer.accuracy == pytest.approx(kept.accuracy, abs=0.02)  # another processor rounds otherwise
        assert layer.control == pytest.approx(kept.control, abs=0.03)


def test_gpt2_tells_fewer_senses_than_bert_since_a_third_comes_later() -> None:
    result = worked("sense")
    assert result.drawn("gpt2-mini").best.accuracy < 2 / 3 + 1 / 6 + 0.02 < result.drawn("bert-mini").best.accuracy


WORDS = [
    ("bank", LabelledWord(0, 4, "bank (money)", "cash")),
    ("bank", LabelledWord(0, 4, "bank (river)", "fish")),
    ("ring", LabelledWord(0, 4, "ring (jewel)", "cash")),
    ("bank", LabelledWord(0, 4, "bank (money)", "cash")),
]


def test_control_labels_stay_with_their_word_and_a_sense_with_its_word() -> None:
    drawn = {tuple(control_labels(WORDS, seed)) for seed in range(40)}
    assert len(drawn) == 4, "two labels for cash and two for fish beside bank; ring has one sense here"
    assert all(one[0] == one[3] and one[2] == "ring (jewel)" for one in drawn)
    assert all(label.startswith("bank") for one in drawn for label in (one[0], one[1]))


def test_control_labels_come_as_often_as_the_tasks_own() -> None:
    words = [(f"w{n}", LabelledWord(0, 1, "NOUN" if n % 4 else "VERB", f"w{n}")) for n in range(4000)]
    drawn = control_labels(words, 1)
    assert drawn == control_labels(words, 1) != control_labels(words, 2)
    assert drawn.count("NOUN") / 4000 == pytest.approx(0.75, abs=0.03)


def of(*layers: tuple[float, float], depth: int = 2, models: tuple[str, ...] = ("m",)) -> ProbeResult:
    probed = tuple(Probed(place, accuracy, control, accuracy) for place, (accuracy, control) in enumerate(layers))
    return ProbeResult("pos", models, 10, 100, 400, 0.3, (ProbedModel("m", depth, probed),))


def test_the_sentence_says_that_layers_add_only_where_they_do() -> None:
    assert probe_sentence(of((0.5, 0.4), (0.9, 0.4), (0.8, 0.3))).striptags() == (
        "From layer 1 of m a probe names the part of speech of 90.0% of the held-out words, from its embeddings 50.0%."
    )
    assert "no layer adds to it" in probe_sentence(of((0.9, 0.4), (0.9, 0.4), (0.8, 0.3)))
    assert "no layer" not in probe_sentence(of((0.9, 0.4))), "while others are still to come"


def test_the_notes_give_control_guess_and_error() -> None:
    said = probe_notes(of((0.5, 0.4), (0.9, 0.45), (0.8, 0.3)))
    for part in ("learned to 45.0%", "is 45 points", "commonest one: 30.0%", "error: 1.5 points", "400 held out"):
        assert part in said


def test_the_picture_and_the_table_show_what_has_come_so_far() -> None:
    result = replace(of((0.5, 0.4), (0.9, 0.45), models=("m", "n")))
    assert probe_bar(result)
    assert result.done == pytest.approx(1 / 3)
    probe, control, cells = probe_figure(result)["data"][:3]
    assert probe["y"] == [0.5, 0.9]
    assert control["y"] == [0.4, 0.45]
    assert cells["z"][0][:2] == pytest.approx([0.1, 0.45])
    assert cells["z"][0][2] is None
    assert probe_table(result).rows[1] == ("m", 1, 0.9, 0.45, pytest.approx(0.45), 0.9)


def test_another_model_is_drawn_if_it_was_asked() -> None:
    result = worked("pos")
    assert "gpt2-mini" in probe_sentence(result, "gpt2-mini")
    assert "gpt2-mini" in probe_notes(result, "gpt2-mini") or "%" in probe_notes(result, "gpt2-mini")
    assert "bert-small" in probe_sentence(result, "a model of the hub")
    drawn = [probe_figure(result, name)["data"][0]["y"] for name in ("gpt2-mini", "bert-small")]
    assert drawn[0] != drawn[1]
    assert "gpt2-mini" in probe_figure(result, "gpt2-mini")["described"]


@pytest.mark.parametrize(
    "given",
    [
        {"models": ()},
        {"models": tuple(map(str, range(10)))},
        {"task": "mood"},
        {"penalty": 0},
        {"penalty": float("nan")},
    ],
)
def test_nonsense_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadInputError):
        ProbeParams(**given)
