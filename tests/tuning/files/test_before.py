"""train.py before there is a run: the script that the run's export will have."""

from __future__ import annotations

import torch

from explorer.tuning.files.script import Settings, script_of_settings, training_script
from explorer.tuning.spec import RunSpec
from explorer.tuning.training import Scale
from tests.rows import each_row
from tests.tuning.samples import moved, tiny_loaded
from tests.tuning.small import CATS, WEIGHT, data

METHODS = [("lora", {"rank": 4, "variant": "dora"}), ("bitfit", {}), ("full", {}), ("head", {}), ("ia3", {})]
METHODS += [("houlsby", {"bottleneck": 4}), ("prompt", {}), ("prefix", {})]


def without_the_name(script: str) -> list[str]:
    return [line for line in script.splitlines() if not line.startswith("RUN = ")]


@each_row("family", ["BERT", "GPT-2"])
@each_row(("method", "options"), METHODS, ids=str)
def test_it_is_the_script_of_the_run(family: str, method: str, options: dict[str, object]) -> None:
    adapted = moved(tiny_loaded(family), method, outputs=2, **options)
    facts = Settings("A run", adapted.spec, CATS.labels, (0.0, 1.0), CATS.kind)
    script = script_of_settings(adapted.loaded, data(), adapted.spec)
    assert without_the_name(script) == without_the_name(training_script(adapted, facts, CATS.metrics))
    compile(script, "train.py", "exec")


def test_a_regression_has_its_scale_and_its_metrics() -> None:
    loaded, examples = tiny_loaded("BERT"), data(WEIGHT)
    scale = Scale.of(torch.tensor([example.label for example in examples.train]), WEIGHT)
    script = script_of_settings(loaded, examples, RunSpec(loaded.model_id))
    assert f"MEAN, SPREAD = {scale.mean!r}, {scale.spread!r}\n" in script
    assert '{"pearson": pearson, "spearman": spearman}' in script


def test_what_begins_with_a_run_has_none_before_it() -> None:
    loaded = tiny_loaded("BERT")
    assert script_of_settings(loaded, data(), RunSpec(loaded.model_id, variant="pissa")) == ""
