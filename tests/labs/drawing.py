"""Checks that every figure must pass: Plotly accepts it in both palettes, and visitors' text stays text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import plotly.graph_objects as go
from markupsafe import Markup

from explorer.charts import PALETTES

HOSTILE = (
    "<script>alert(1)</script>",
    "</textarea>",
    "R&D",
    '"double"',
    "'single'",
    "&lt;b&gt;",
    "<img src=x onerror=y>",
)
"""What a visitor may type and no page may take for markup."""


def roles(value: Any) -> set[str]:
    """All colour roles (`@name`) in a figure, without the @."""
    if isinstance(value, str):
        return {value[1:]} if value.startswith("@") else set()
    if isinstance(value, dict):
        return set().union(*map(roles, value.values()))
    return set().union(*map(roles, value)) if isinstance(value, (list, tuple)) else set()


def font_sizes(value: Any) -> list[float]:
    """All sizes of text that a figure names, in pixels."""
    if isinstance(value, dict):
        own = [entry["size"] for key, entry in value.items() if key.endswith("font") and "size" in entry]
        return own + [size for entry in value.values() for size in font_sizes(entry)]
    return [size for entry in value for size in font_sizes(entry)] if isinstance(value, (list, tuple)) else []


def coloured(value: Any, palette: dict[str, str]) -> Any:
    """A figure with its roles replaced by a palette's colours, as assets/plot.js does."""
    if isinstance(value, str):
        return palette[value[1:]] if value.startswith("@") else value
    if isinstance(value, dict):
        return {key: coloured(entry, palette) for key, entry in value.items()}
    return [coloured(entry, palette) for entry in value] if isinstance(value, (list, tuple)) else value


def assert_draws(picture: dict[str, Any]) -> go.Figure:
    """Plotly's own validation accepts the figure in every palette, and it has a text for screen readers.

    Returns the wide figure in the last palette.
    """
    assert {"data", "layout", "described"} <= set(picture) <= {"data", "layout", "described", "narrow", "low"}
    assert 150 < picture.get("low", 151) < 800
    assert picture["described"].strip()
    assert isinstance(picture["layout"]["height"], (int, float))
    assert min([14, *font_sizes(picture["data"]), *font_sizes(picture["layout"])]) >= 14, "too small for a projector"
    assert not any("texttemplate" in trace for trace in picture["data"] if trace["type"] == "heatmap"), "use cell_texts"
    for palette in PALETTES.values():
        assert roles(picture) <= set(palette)
        go.Figure(coloured(picture["data"], palette), coloured(picture.get("narrow", {}), palette))
        figure = go.Figure(coloured(picture["data"], palette), coloured(picture["layout"], palette))
    return figure


def written(figure: go.Figure) -> dict[tuple[Any, Any], str]:
    """What stands on a heatmap's cells, by column and row."""
    texts = next(trace for trace in figure.data if trace.meta == "cells")
    return dict(zip(zip(texts.x, texts.y, strict=True), texts.text, strict=True))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_safe(html: Markup, shows: str, tags: tuple[str, ...] = ("strong",)) -> None:
    """A browser reads `shows` as text, and finds no tag but those named and no attribute but a class."""
    assert isinstance(html, Markup)
    reader = _Reader()
    reader.feed(str(html))
    reader.close()
    assert reader.tags <= set(tags)
    assert reader.attributes <= {"class"}
    assert shows in reader.text
