"""The slider's numbers, computed in a browser, are those of the table, computed by torch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.charts import PALETTES
from explorer.charts.words import percent
from explorer.labs.distillation import jobs as compute
from explorer.labs.distillation import soft_figures as figures
from explorer.labs.distillation.params import SoftTargetsParams
from explorer.labs.distillation.schema import SoftTargetsResult
from explorer.maths import distillation as maths
from explorer.models.loaded_model import LoadedModel
from explorer.ui.components import ASSETS
from tests.labs.distillation.opening import opening

pytestmark = pytest.mark.e2e

TEXT = "The capital of France is [MASK]."

_STUBS = """
window.Plotly = { react: async (frame, data, layout) => { frame.data = data; frame.layout = layout; frame.on = () => {}; },
                  Icons: {}, Plots: { resize() {} } };
window.explorerPlotly = Promise.resolve(window.Plotly);
window.told = [];
window.start = (value, palettes, script) => {
  const element = document.querySelector("#figure");
  window.props = { value, palettes, filename: "x" };
  const watch = (name, again) => { window.receive = again; };
  const trigger = (name, data) => window.told.push(data);
  new Function("element", "props", "watch", "trigger", script)(element, window.props, watch, trigger);
};
window.move = async (T) => {
  const slider = document.querySelector("input");
  slider.value = Math.log10(T);
  slider.dispatchEvent(new Event("input"));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const { data } = document.querySelector(".plot");
  return { soft: data[1].x, text: data[1].text, entropy: data[3].y[1], dark: data[5].y[1], at: data[3].x[0], hard: data[0].x,
           shown: document.querySelector("output").textContent };
};
"""


@pytest.fixture
def result(loaded: LoadedModel, tmp_path: Path) -> SoftTargetsResult:
    with torch.inference_mode():
        return compute.soft_targets(
            opening(tmp_path, {"bert-small": loaded}), SoftTargetsParams(TEXT, 2.0, "bert-small")
        )


@pytest.fixture
def page(browser: Any, result: SoftTargetsResult) -> Any:
    opened = browser.new_page()
    opened.set_content(
        '<div id="figure"><div class="softening" hidden><input type="range" min="-1" max="1.30103" step="0.005">'
        '<output></output></div><div class="plot" style="width:700px;height:300px"></div></div>'
    )
    plot, own = ((ASSETS / name).read_text(encoding="utf-8") for name in ("plot.js", "softening.js"))
    opened.add_script_tag(content=(ASSETS / "colours.js").read_text(encoding="utf-8"))
    opened.add_script_tag(content=_STUBS)
    script = f"function drawing(element, props, watch, trigger) {{\n{plot}\n}}\n{own}"
    opened.evaluate(
        "([value, palettes, script]) => window.start(value, palettes, script)",
        [figures.soft_targets_figure(result), PALETTES, script],
    )
    opened.wait_for_function("document.querySelector('.plot').data")
    yield opened
    opened.close()


def test_every_movement_gives_the_tables_numbers(page: Any, result: SoftTargetsResult, loaded: LoadedModel) -> None:
    for temperature in (0.1, 0.7, 1.0, 2.0, 7.5, 20.0):
        seen = page.evaluate("(T) => window.move(T)", temperature)
        reached = seen["at"]
        assert abs(math.log10(reached / temperature)) < 0.006  # a step of the slider, and three digits
        logits = _logits(result)
        soft = maths.softened(logits, reached)
        expected = [*soft[:8].tolist(), float(soft[8:].sum())]
        assert seen["soft"] == pytest.approx(expected, rel=1e-9)
        assert sum(seen["soft"]) == pytest.approx(1, abs=1e-12)
        assert seen["entropy"] == pytest.approx(float(maths.entropy(soft)), rel=1e-9)
        assert seen["dark"] == pytest.approx(float(maths.dark_mass(soft)), rel=1e-9)
        assert seen["text"] == [percent(share) for share in expected]
        assert seen["hard"] == [1.0, *[0.0] * 8]
        assert float(seen["shown"].removeprefix("T = ")) == pytest.approx(reached)
    assert page.evaluate("window.told") == []


def test_it_opens_with_the_tables_own_temperature(page: Any, result: SoftTargetsResult) -> None:
    drawn = page.evaluate("document.querySelector('.plot').data[1].x")
    assert drawn == pytest.approx([target.soft for target in result.targets], rel=1e-9)


def test_the_server_is_told_when_it_is_let_go_and_its_answer_does_not_move_it(
    page: Any, result: SoftTargetsResult
) -> None:
    page.evaluate("(T) => window.move(T)", 5.0)
    page.evaluate("document.querySelector('input').dispatchEvent(new Event('change'))")
    told = page.evaluate("window.told")
    assert told == [{"temperature": 5.01}]
    page.evaluate("(T) => window.move(T)", 9.0)
    answer = figures.soft_targets_figure(result) | {"temperature": told[0]["temperature"]}
    page.evaluate("(value) => { window.props.value = value; window.receive(); }", answer)
    assert page.evaluate("document.querySelector('output').textContent") == "T = 9.02"
    page.evaluate("(value) => { window.props.value = value; window.receive(); }", answer | {"temperature": 0.5})
    assert page.evaluate("document.querySelector('output').textContent") == "T = 0.500"


def test_an_empty_value_hides_everything(page: Any) -> None:
    page.evaluate("() => { window.props.value = ''; window.receive(); }")
    assert page.evaluate("document.querySelector('.softening').hidden && document.querySelector('.plot').hidden")


def _logits(result: SoftTargetsResult) -> torch.Tensor:
    import base64

    import numpy as np

    packed = np.frombuffer(base64.b64decode(result.logits), dtype="<f4").astype(np.float64)
    return torch.from_numpy(packed)
