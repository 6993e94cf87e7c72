"""Every published figure that can be computed, computed."""

from __future__ import annotations

from explorer.labs.agrees.schema import EVERY, Finding, PublishedParams, PublishedResult
from explorer.published.check import PAPERS, Check
from explorer.published.checks import CHECKS


def published_figures(params: PublishedParams) -> PublishedResult:
    """Compute the figures of one paper or of all from sizes and formulas: no weight is loaded."""
    asked = [check for check in CHECKS if params.paper in (EVERY, check.paper)]
    found = [_found(check) for check in asked]
    wanted = {"agree": (True,), "differ": (False,)}.get(params.verdict, (True, False))
    return PublishedResult(tuple(one for one in found if one.agrees in wanted), params.paper == EVERY)


def _found(check: Check) -> Finding:
    value = check.computed()
    return Finding(
        PAPERS[check.paper],
        check.place,
        check.quantity,
        check.published,
        check.rounded(value),
        value,
        value / check.value - 1,
        check.agrees(value),
        check.how,
        check.reason,
        bool(check.inferred),
        check.unexplained,
    )
