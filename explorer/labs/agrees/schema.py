"""Which published figures are asked for, and how they compare with what is computed: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from explorer.kinds import OneOf
from explorer.params import Shown, params
from explorer.published.check import PAPERS

EVERY = "all"
NEAR = 0.02
"""A difference below this share is a small one."""

Standing = Literal["equal", "near", "open"]
STANDINGS: dict[Standing, str] = {
    "equal": "equal after rounding",
    "near": "within 2% and explained",
    "open": "further apart, or open",
}
VERDICTS = {EVERY: "all of them", "agree": "those that agree", "differ": "those that differ"}


@params
class PublishedParams:
    """Whose figures, and which of them."""

    paper: Annotated[str, OneOf((EVERY, *PAPERS), ("every paper", *PAPERS.values())), Shown("Paper", dropdown=True)] = (
        EVERY
    )
    verdict: Annotated[str, OneOf(tuple(VERDICTS), tuple(VERDICTS.values())), Shown("Figures")] = EVERY


@dataclass(frozen=True)
class Finding:
    """One figure as published and as computed.

    paper: its name. published, computed: written alike, computed rounded to the digits that are printed. value: the computed
    figure itself, in ones (a share is 0.4, not 40). apart: computed over published, less 1. how: the formula; why: what
    explains a difference, or is left open. inferred: whether an input was found by means of the published figure.
    unexplained: whether the difference is left open.
    """

    paper: str
    place: str
    quantity: str
    published: str
    computed: str
    value: float
    apart: float
    agrees: bool
    how: str
    why: str
    inferred: bool = False
    unexplained: bool = False

    @property
    def standing(self) -> Standing:
        """How the two figures stand to each other."""
        if self.agrees:
            return "equal"
        return "near" if abs(self.apart) < NEAR and not self.unexplained else "open"


@dataclass(frozen=True)
class PublishedResult:
    """The figures in the order of papers and tables. whole: all papers are among them."""

    findings: tuple[Finding, ...]
    whole: bool

    @property
    def differing(self) -> tuple[Finding, ...]:
        """Those that do not agree, the furthest apart first."""
        apart = [finding for finding in self.findings if not finding.agrees]
        return tuple(sorted(apart, key=lambda finding: -abs(finding.apart)))

    def grouped(self) -> dict[str, list[Finding]]:
        """Return the findings by paper, or by table if they are of one paper."""
        groups: dict[str, list[Finding]] = {}
        for finding in self.findings:
            groups.setdefault(finding.paper if self.whole else finding.place, []).append(finding)
        return groups
