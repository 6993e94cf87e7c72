"""Which runs a sweep comes to, and what is refused before any starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.errors import BadInputError
from explorer.labs.finetune.sweep import MOST_RUNS, SETTINGS, SweepParams
from explorer.tuning.spec import RunSpec
from tests.rows import each_row


def sweep(**changes: object) -> SweepParams:
    return SweepParams("bert-mini", **{"setting": "learning_rate", **changes})  # type: ignore[arg-type]


def test_every_setting_has_its_usual_values_and_changes_nothing_else() -> None:
    for setting in SETTINGS.values():
        methods = ("full",) if setting.slug == "start" else ("lora",)
        specs = sweep(setting=setting.slug, methods=methods, seeds=2).specs()
        count = len(setting.values.split(", "))
        assert len(specs) == 2 * count
        assert {spec.seed for spec in specs} == {0, 1}
        assert [spec.seed for spec in specs] == sorted(spec.seed for spec in specs), "each value once before any again"
        assert len({setting.of(spec) for spec in specs}) == count
        swept = {"rank", "alpha", "targets", "learning_rate", "examples", "last_layers", "start", "method", "seed"}
        same = {replace(spec, **{name: getattr(specs[0], name) for name in swept}) for spec in specs}
        assert len(same) == 1


def test_matrices_share_one_budget() -> None:
    specs = sweep(setting="matrices", values=("q", "v+q", "q+k+v+o"), seeds=1).specs()
    assert [(spec.targets, spec.rank, spec.alpha) for spec in specs] == [
        (("query",), 8, 16.0),
        (("query", "value"), 4, 8.0),
        (("query", "key", "value", "output"), 2, 4.0),
    ]


def test_the_rank_is_swept_at_one_scale_and_alpha_at_one_rank() -> None:
    assert {spec.alpha / spec.rank for spec in sweep(setting="rank", seeds=1).specs()} == {2.0}
    assert {spec.rank for spec in sweep(setting="alpha", rank=4, seeds=1).specs()} == {4}


def test_several_methods_are_several_lines() -> None:
    specs = sweep(methods="lora, full", values="1e-4, 1e-3", seeds=1).specs()
    assert [(spec.method, spec.learning_rate) for spec in specs] == [
        ("lora", 1e-4),
        ("full", 1e-4),
        ("lora", 1e-3),
        ("full", 1e-3),
    ]
    assert isinstance(specs[0], RunSpec)


@each_row(
    ("changes", "says"),
    [
        ({"values": "1e-3, 1e-2, 1e-1, 1, 2, 3, 4, 5, 6", "seeds": 3}, f"27 runs, and a sweep has at most {MOST_RUNS}"),
        ({"setting": "rank", "methods": "full"}, "Full fine-tuning has no rank to sweep. Take lora."),
        ({"setting": "last_layers", "methods": "prefix"}, "has no last layers trained to sweep"),
        ({"setting": "matrices", "values": "w"}, r"written like q\+v"),
        ({"setting": "rank", "values": "1.5"}, "rank must be a whole number"),
        ({"setting": "start", "values": "mars", "methods": "full"}, "start must be one of pretrained, random"),
        ({"setting": "method", "values": "banana"}, "no method 'banana'"),
        ({"setting": "colour"}, "setting must be one of"),
        ({"values": "-1"}, "learning_rate must be a number above 0"),
    ],
)
def test_what_cannot_be_swept_is_refused_with_a_sentence(changes: dict[str, object], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        sweep(**changes)
