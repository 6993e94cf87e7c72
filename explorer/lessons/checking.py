"""Checks the addresses of a lesson against the pages that there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from explorer.errors import BadInputError
from explorer.lessons.schema import Lesson


def checked(lesson: Lesson, addresses: Mapping[str, Any]) -> Lesson:
    """Return a lesson all of whose steps open. addresses: the pages' explorer.ui.address.Address, by slug.

    Raises BadInputError with the first step that doesn't, and why.
    """
    for number, step in enumerate(lesson.steps, start=1):
        said = wrong(step.at, addresses)
        if said:
            raise BadInputError(f"Step {number}, “{step.title}”: {said}")
    return lesson


def wrong(at: str, addresses: Mapping[str, Any]) -> str:
    """Return why an address doesn't open as it says, or ""."""
    before, _, fragment = at.partition("#")
    slug, _, query = before.partition("?")
    if slug.removeprefix("./") not in addresses:
        return f"There is no page “{slug[:40]}”; the home page's list has all pages."
    strange = [name for name, _ in parse_qsl(query) if name != "run"]
    if strange:
        return f"Before the # only run= may stand, not {strange[0][:40]}=."
    return " ".join(addresses[slug.removeprefix("./")].refused(fragment))
