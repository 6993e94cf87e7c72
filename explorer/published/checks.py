"""All published figures that are computed again here, by paper."""

from __future__ import annotations

from explorer.published import checks_of_lora, checks_of_sizes, checks_of_trained, checks_of_training
from explorer.published.check import PAPERS, Check

_ALL = (*checks_of_sizes.CHECKS, *checks_of_training.CHECKS, *checks_of_trained.CHECKS, *checks_of_lora.CHECKS)

CHECKS: tuple[Check, ...] = tuple(
    sorted(_ALL, key=lambda check: (list(PAPERS).index(check.paper), check.place.startswith("Table"), check.place))
)
"""Each paper's own in the order of its tables."""
