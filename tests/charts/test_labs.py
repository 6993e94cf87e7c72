"""What a lab leaves to the vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import each_row

LABS = Path(__file__).resolve().parents[2] / "explorer" / "labs"
FIGURES = sorted(LABS.rglob("*figures.py"))
PLOTLY = re.compile(
    r'"(?:domain|anchor|[xy]axis\d?|annotations|shapes|showarrow|orientation|hovertemplate)":'
    r'|"type": "(?:scatter|heatmap|bar)"'
)
"""Words of Plotly's with which a trace, a panel or a legend would be built by hand."""


@each_row("path", FIGURES, ids=lambda path: str(path.relative_to(LABS)))
def test_a_lab_says_what_is_drawn_and_not_where_it_stands(path: Path) -> None:
    assert PLOTLY.findall(path.read_text(encoding="utf-8")) == []
