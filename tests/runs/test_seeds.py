"""Runs with several seeds: what is started, what belongs together, and what their differences say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from explorer.errors import BadInputError
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.runs.seeds import Repeated, ahead, by_setting, lead_notes, lead_parts, repeated, several_seeds
from explorer.tuning.spec import RunSpec

SPECS = [RunSpec("bert-mini", method=method, seed=4) for method in ("head", "lora")]


def run(method: str, seed: int, score: float | None) -> RunRecord:
    status = RunStatus.QUEUED if score is None else RunStatus.DONE
    outcome = None if score is None else Outcome({"validation": {"accuracy": score}}, {"validation": 100})
    spec = RunSpec("bert-mini", method=method, seed=seed)
    name = f"{method} · SST-2"
    return RunRecord(f"r{method}{seed}", "ada", spec, status, 1.0, name, metrics=("accuracy",), outcome=outcome)


def runs(**scores: tuple[float | None, ...]) -> list[RunRecord]:
    """Seed by seed, as they are started."""
    seeds = range(max(map(len, scores.values())))
    return [run(method, seed, each[seed]) for seed in seeds for method, each in scores.items() if seed < len(each)]


def test_every_run_is_seen_once_before_any_is_repeated() -> None:
    specs = repeated(SPECS, 3)
    assert [(spec.method, spec.seed) for spec in specs] == [(m, s) for s in (4, 5, 6) for m in ("head", "lora")]
    assert {replace(spec, seed=4) for spec in specs} == set(SPECS)
    with pytest.raises(BadInputError, match="9 runs with 4 seeds are 36, and at most 32"):
        repeated(SPECS[:1] * 9, 4)


def test_runs_that_differ_by_their_seed_alone_belong_together() -> None:
    records = runs(head=(0.5, None), lora=(0.8, 0.9))
    head, lora = by_setting(records)
    assert (head.name, head.scores) == ("head", {0: 0.5})
    assert (lora.scores, lora.mean) == ({0: 0.8, 1: 0.9}, pytest.approx(0.85))
    assert several_seeds(records)
    twice = [run("lora", 0, 0.5), run("lora", 0, 0.6)]
    assert by_setting(twice) == [Repeated((one,)) for one in twice], "one seed twice is no second seed"


def test_the_lead_is_told_by_differences_seed_by_seed_with_an_allowance_for_all_pairs() -> None:
    draw = np.random.default_rng(0)
    luck = draw.normal(0, 0.03, 5)  # shared by the pair: it must not count
    scores = {
        "lora": 0.9 + luck + draw.normal(0, 0.001, 5),
        "full": 0.899 + luck + draw.normal(0, 0.01, 5),
        "head": 0.8 + luck,
    }
    pairs = [("lora", "full"), ("lora", "head"), ("full", "head")]
    p = {pair: ttest_rel(scores[pair[0]], scores[pair[1]]).pvalue for pair in pairs}
    assert p["lora", "full"] > 0.05 > 3 * p["lora", "head"]
    settings = by_setting(runs(**{name: tuple(map(float, each)) for name, each in scores.items()}))
    said = "".join(lead_parts(settings))
    best, second = (f"{100 * scores[name].mean():.1f}" for name in ("lora", "full"))
    assert best > second
    assert said.endswith(f" leads with accuracy <strong>{best}%</strong>; its lead over full could be chance.")
    said = lead_notes(settings)
    assert said.startswith("lora: mean of 5 seeds, standard deviation")
    interval = ttest_rel(scores["lora"], scores["full"]).confidence_interval()
    ends = f"{100 * interval.low:.1f} to {100 * interval.high:.1f} points".replace("-", "−")
    assert f"ahead of full, which may be chance (95% interval {ends} over 5 seeds)" in said
    assert "better than 1 of the 2 others: head (" in said
    assert "all 3 pairs together" in said


def test_one_shared_seed_says_nothing_of_chance_and_equal_differences_claim_none() -> None:
    assert not ahead("accuracy", {0: 0.9}, {0: 0.8, 1: 0.7}, "it")
    assert ahead("accuracy", {0: 0.75, 1: 1.0}, {0: 0.5, 1: 0.75}, "it") == (
        "25.0 points ahead of it, by the same in each of 2 seeds"
    )
    alike = by_setting(runs(lora=(1.0, 0.75), full=(0.75, 0.5), head=(0.5, 0.25)))
    assert "better than none of the 2 others" in lead_notes(alike), "two seeds alike: the sign test's p is a half"
    assert "its lead over full could be chance" in "".join(lead_parts(alike))
    begun = by_setting(runs(lora=(0.9, None), full=(0.8, None), head=(0.5, None)))
    assert "once each has two seeds" in lead_notes(begun)
    assert "chance" not in "".join(lead_parts(begun))


def test_a_headline_says_whom_the_leader_is_ahead_of_and_two_that_are_level_share_the_lead() -> None:
    scores = {"lora": (0.95, 0.949, 0.951), "full": (0.85, 0.852, 0.848), "head": (0.75, 0.749, 0.752)}
    assert "".join(lead_parts(by_setting(runs(**scores)))).endswith(
        ", ahead of each of the others by more than chance."
    )
    two = by_setting(runs(lora=scores["lora"], full=scores["full"]))
    assert "".join(lead_parts(two)).endswith(", ahead of full by more than chance.")
    level = by_setting(runs(lora=scores["lora"], full=scores["lora"], head=scores["head"]))
    assert "and 1 more share the lead with accuracy" in "".join(lead_parts(level))
    assert "chance" not in "".join(lead_parts(level))
