"""What is folded below a figure: on every page and tab Why comes first, then Data, then Copy as Python."""

from __future__ import annotations

import re
from typing import Any

from gradio_client import Client

from explorer.labs import LABS
from tests.rows import each_row

KINDS = ("Why", "Data", "Copy as Python")
IN_ORDER = re.compile("(Why, )?(Data, Copy as Python, )+")


def sections_of(client: Client, path: str) -> list[tuple[str, str]]:
    """(name, its folds in order) of each part of a page with folds: a tab, a fold that holds others, what follows a heading."""
    parts = {part["id"]: part for part in client.config["components"]}
    found: list[tuple[str, list[str]]] = []

    def walk(node: dict[str, Any], kinds: list[str]) -> list[str]:
        """`kinds` of the section that the node is in; those of the section that what follows it is in."""
        part = parts.get(node["id"], {"type": "page", "props": {"label": path}})
        props = part["props"]
        label = str(props.get("label") or "")
        if props.get("visible") is False:
            return kinds
        if part["type"] == "html" and "<h2>" in str(props.get("value")):
            found.append((props["value"], kinds := []))
        if part["type"] == "accordion" and (kind := label.partition(":")[0]) in KINDS:
            kinds.append(kind)
            return kinds
        inner = kinds
        if part["type"] in ("page", "tabitem", "accordion"):
            found.append((label, inner := []))
        for child in node.get("children") or []:
            inner = walk(child, inner)
        return kinds if part["type"] in ("page", "tabitem", "accordion") else inner

    walk(client.config["page"][path]["layout"], [])
    return [(name, "".join(f"{kind}, " for kind in kinds)) for name, kinds in found if kinds]


@each_row("path", ["", *(lab.slug for lab in LABS)])
def test_folds_have_one_order(client: Client, path: str) -> None:
    sections = sections_of(client, path)
    assert sections
    alone = (
        (path, "Why, "),  # below the tabs, about none of them alone
        ("Did it help?", "Why, "),  # two papers' tables, which stand in the fold: nothing is computed
    )
    assert [one for one in sections if one not in alone and not IN_ORDER.fullmatch(one[1])] == []
