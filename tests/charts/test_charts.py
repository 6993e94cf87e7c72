"""What all pictures share: colours, numbers, prose, traces, and where panels stand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from markupsafe import Markup
from plotly.colors import sample_colorscale

from explorer.charts import (
    DIVERGING,
    MAGNITUDE,
    PALETTES,
    Panel,
    axis,
    band,
    bars,
    cell_texts,
    chart,
    colorbar,
    empty,
    error_bars,
    frame,
    heat,
    ink,
    level,
    line,
    note,
    picture,
    points,
    rows,
    series,
)
from explorer.charts.words import (
    facts,
    fixed,
    measures,
    milliseconds,
    number,
    ordinal,
    percent,
    progress_bar,
    prose,
    quoted,
    signed,
    strong,
)
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, roles
from tests.rows import each_row


@each_row(
    ("share", "text"),
    [
        (0.5, "50.0%"),
        (0.123456, "12.3%"),
        (0.0712345, "7.12%"),
        (0.0000123456, "0.00123%"),
        (0.000002, "0.000200%"),
        (1e-9, "<0.0001%"),
        (1.0, "100%"),
        (0.999, "99.9%"),
        (0.9996, "99.96%"),
        (0.99999, "99.999%"),
        (0.9999999, "99.9999%"),
        (1 - 1e-15, "99.9999%"),
    ],
)
def test_percentages_have_three_significant_digits(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_percentage_is_near_its_share_and_says_all_or_nothing_only_where_it_is_so() -> None:
    for exponent in range(1, 2000):
        for share in (10 ** (-exponent / 150), 1 - 10 ** (-exponent / 150)):
            if not 0 < share < 1:
                continue
            text = percent(share)
            assert re.fullmatch(r"<?\d{1,2}(\.\d+)?%", text), (share, text)
            if not text.startswith("<"):
                assert float(text[:-1]) == pytest.approx(100 * share, rel=0.006)
                assert float(text[:-1]) > 0


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.1."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    ]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def in_palette(value: Any, palette: str) -> Any:
    """A role, or the colours of a scale, as the page draws them."""
    if isinstance(value, str):
        return PALETTES[palette][value[1:]] if value.startswith("@") else value
    return [[stop, in_palette(colour, palette)] for stop, colour in value]


@each_row("palette", PALETTES)
@each_row("scale", [MAGNITUDE, DIVERGING], ids=["magnitude", "diverging"])
def test_text_on_a_cell_is_black_or_white_and_stands_out_from_every_colour(
    scale: list[list[Any]], palette: str
) -> None:
    steps = 500
    drawn = sample_colorscale(
        in_palette(scale, palette), [step / steps for step in range(steps + 1)], colortype="tuple"
    )
    inks = set()
    for step, colour in enumerate(drawn):
        written = in_palette(ink(step / steps, scale), palette)
        inks.add(written)
        cell = luminance("#" + "".join(f"{round(255 * channel):02X}" for channel in colour))
        lighter, darker = sorted((luminance(written), cell), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, step / steps
    assert inks == {"#000000", "#FFFFFF"}


def test_a_magnitude_of_nothing_is_the_paper() -> None:
    for palette in PALETTES:
        (_, nothing), *_ = in_palette(MAGNITUDE, palette)
        assert nothing == PALETTES[palette]["paper"]


def test_texts_stand_on_their_cells() -> None:
    heat = {
        "x": ["a", "b"],
        "y": [0, 1],
        "z": [[0.0, 10.0], [None, 5.0]],
        "zmin": 0,
        "zmax": 10,
        "colorscale": MAGNITUDE,
    }
    written = cell_texts(heat | {"yaxis": "y2"}, [["no", "yes"], ["", "half"]], 14)
    assert list(zip(written["x"], written["y"], written["text"], strict=True)) == [
        ("a", 0, "no"),
        ("b", 0, "yes"),
        ("b", 1, "half"),
    ]
    assert written["textfont"] == {"size": 14, "color": ["@ink", "@reversed", "@ink"]}
    assert (written["hoverinfo"], written["yaxis"], "xaxis" in written) == ("skip", "y2", False)


def test_nothing_is_nothing() -> None:
    assert float(percent(0.0)[:-1]) == 0
    assert not percent(0.0).startswith(("-", "<"))


def test_both_palettes_have_the_same_roles() -> None:
    assert set(PALETTES["light"]) == set(PALETTES["dark"])
    for palette in PALETTES.values():
        for colour in palette.values():
            assert re.fullmatch(r"#[0-9A-F]{6}|rgba\(0,0,0,0\)", colour)


@each_row("text", HOSTILE)
def test_prose_escapes_plain_text_and_keeps_markup(text: str) -> None:
    assert_safe(prose("Here: ", strong(text), " and ", text, Markup("<em>!</em>")), text, ("strong", "em"))
    assert prose("a ", text).striptags() == f"a {text}"


def test_an_empty_figure_draws_in_both_palettes() -> None:
    assert_draws(picture("Nothing yet.", [], height=200))
    assert_draws(chart("Nothing yet.", [], height=200))


def test_changes_of_an_axis_go_on_top_of_the_shared_ones() -> None:
    made = picture("", [Panel([], axis(span=(0, 1))), Panel([], {}, axis("p"))])["layout"]
    assert made["xaxis"]["gridcolor"] == made["yaxis2"]["gridcolor"] == "@grid"
    assert made["xaxis"]["range"] == [0, 1]
    assert made["yaxis2"]["title"] == {"font": {"size": 16}, "text": "p"}
    assert "range" not in chart("", [])["layout"]["xaxis"]


def test_the_shared_layout_uses_known_roles() -> None:
    assert roles(chart("", [])) <= set(PALETTES["light"])


LINE = line([0, 1], [2, 3], "@first", "one", hover="%{y}", aside="one")
CELLS = heat([0, 1], [0], [[0.25, None]], MAGNITUDE, texts=percent, bar=colorbar("share", ".0%"), hover="%{z}")


def test_every_trace_and_mark_draws_and_says_only_what_was_asked() -> None:
    traces = [
        LINE,
        points([1], [2], "@second", texts=["a"], hover=None),
        band([0, 1], [1, 2], [3, 4], "rgba(0,0,0,0.2)"),
        bars(["a", "b"], [1, 2], "@third", texts=["1", "2"], size=15, error_x=error_bars([1, 2], [0, 1]), hover="%{x}"),
        *CELLS,
    ]
    marks = [level(1), level(2, upright=True), frame((0, 1), (0, 1)), note("here", 0, 1)]
    figure = assert_draws(chart("All.", traces, axis("x", log=True), rows(["a", "b"]), marks, legend=True, low=300))
    assert (figure.data[0].mode, figure.data[0].hovertemplate) == ("lines", "%{y}<extra>one</extra>")
    assert (figure.data[1].hoverinfo, figure.data[1].mode) == ("skip", "markers+text")
    assert tuple(figure.data[2].y) == (3, 4, 2, 1)
    assert (figure.data[3].orientation, figure.data[3].cliponaxis) == ("h", False)
    assert (tuple(figure.data[3].error_x.arrayminus), figure.data[3].error_x.symmetric) == ((0, 1), False)
    assert figure.data[-1].text == ("25.0%",), "a cell without a value has no text"
    assert len(figure.layout.shapes) == 3
    assert [entry.text for entry in figure.layout.annotations] == ["here"]


def test_panels_share_the_width_and_on_a_phone_stand_below_each_other() -> None:
    left = Panel([LINE], axis("x"), axis("y"), "left", [level(1)], width=2)
    drawn = picture("Two.", [left, Panel([LINE], axis("x"), axis("y"), "right")], gap=0.1, phone=600, legend=True)
    wide, narrow = assert_draws(drawn).layout, drawn["narrow"]
    assert wide.xaxis.domain == pytest.approx((0, 0.6))
    assert wide.xaxis2.domain == pytest.approx((0.7, 1))
    assert (wide.xaxis2.anchor, wide.yaxis2.anchor) == ("y2", "x2")
    assert wide.yaxis.domain[1] < 1, "between legend and panel there is room for its title"
    assert [(entry.text, entry.x) for entry in wide.annotations] == [("left", 0), ("right", pytest.approx(0.7))]
    assert (wide.shapes[0].xref, wide.shapes[0].yref) == ("x domain", "y")
    assert narrow["height"] == 600
    assert narrow["xaxis"]["domain"] == narrow["xaxis2"]["domain"] == [0, 1]
    assert narrow["yaxis2"]["domain"][1] < narrow["yaxis"]["domain"][0]
    assert (drawn["data"][1]["showlegend"], drawn["data"][1]["xaxis"]) == (False, "x2")
    assert {trace["legendgroup"] for trace in drawn["data"]} == {"one"}


def test_a_shared_axis_is_drawn_once_and_crosses_the_last_panel() -> None:
    above, below = Panel([LINE], axis("step"), axis("loss")), Panel([LINE], None, axis("metric"))
    drawn = picture("Below each other.", [above, below], columns=1)
    layout = assert_draws(drawn).layout
    assert (layout.xaxis.anchor, "xaxis2" in drawn["layout"], drawn["data"][1]["xaxis"]) == ("y2", False, "x")
    assert layout.yaxis2.domain[1] < layout.yaxis.domain[0]
    beside = picture("Beside.", [Panel([LINE], {}, axis("y")), Panel([LINE], {}, None)])
    assert (beside["data"][1]["xaxis"], beside["data"][1]["yaxis"]) == ("x2", "y")
    assert beside["layout"]["xaxis2"]["anchor"] == "y"


def test_an_outer_axis_shows_its_names_and_its_title_at_the_edge_alone() -> None:
    panel = Panel([LINE], axis("x", outer=True), axis("y", names=True, outer=True))
    drawn = picture("Four.", [panel] * 4, columns=2, phone=900)
    wide, narrow = drawn["layout"], drawn["narrow"]
    assert ["title" in wide[f"xaxis{number}"] for number in ("", 2, 3, 4)] == [False, False, True, True]
    assert [wide[f"yaxis{number}"].get("showticklabels", True) for number in ("", 2, 3, 4)] == [
        True,
        False,
        True,
        False,
    ]
    assert ["title" in narrow[f"xaxis{number}"] for number in ("", 2, 3, 4)] == [False, False, False, True]
    assert all("showticklabels" not in narrow[f"yaxis{number}"] for number in ("", 2, 3, 4))
    assert "outer" not in str(drawn)


def test_panels_of_one_cell_stand_below_each_other_and_a_phone_may_have_axes_of_its_own() -> None:
    alone = Panel([], axis("alone"), {})
    drawn = picture("Three.", [Panel([LINE], alone=alone), [Panel([LINE]), Panel([LINE])]], phone=800)
    wide = drawn["layout"]
    assert wide["yaxis"]["domain"] == [0, 1]
    assert wide["xaxis2"]["domain"] == wide["xaxis3"]["domain"]
    assert wide["yaxis3"]["domain"][1] < wide["yaxis2"]["domain"][0]
    assert (drawn["narrow"]["xaxis"]["title"]["text"], "title" in wide["xaxis"]) == ("alone", False)


def test_rows_of_panels_may_be_half_full_and_a_phone_may_keep_two_beside_each_other() -> None:
    panels = [Panel([LINE]) for _ in range(3)]
    grid = picture("Three.", panels, columns=2)["layout"]
    assert grid["xaxis3"]["domain"] == grid["xaxis"]["domain"]
    assert grid["yaxis3"]["domain"][1] < grid["yaxis"]["domain"][0]
    kept = picture("Three.", panels, phone=700, stacked=[[panels[0], panels[1:]]])["narrow"]
    assert kept["yaxis2"]["domain"] == kept["yaxis3"]["domain"]
    assert kept["yaxis2"]["domain"][1] < kept["yaxis"]["domain"][0]
    assert kept["xaxis2"]["domain"][1] < kept["xaxis3"]["domain"][0]


def test_empty_room_keeps_panels_level_and_the_phone_leaves_it_out() -> None:
    strip, grid, other = (
        Panel([LINE], height=26),
        Panel([LINE], None, height=100, air=30),
        Panel([LINE], {}, {}, height=100, air=30),
    )
    columns = [[strip, grid], [empty(height=26), other]]
    drawn = picture("Three.", columns, height=312, phone=400, stacked=[[strip, grid, other]])
    wide, narrow = assert_draws(drawn).layout, drawn["narrow"]
    assert wide.yaxis2.domain == wide.yaxis3.domain
    assert wide.yaxis.domain[0] - wide.yaxis2.domain[1] == pytest.approx(30 / 312, abs=1e-5)
    assert {f"yaxis{number}" in wide for number in ("", 2, 3)} == {True}
    assert "yaxis4" not in drawn["layout"], "nothing is drawn where it is empty"
    assert (narrow["yaxis3"]["domain"][0], narrow["xaxis2"]["anchor"], narrow["xaxis"]["anchor"]) == (0, "y3", "y2")


def test_cells_of_several_panels_come_first_and_share_their_colours() -> None:
    cells = heat([0], [0], [[1]], DIVERGING, (-1, 1), shared=True, texts=[["x"]], hover="%{z}")
    shared = {"colorscale": DIVERGING, "cmin": -1, "cmax": 1}
    drawn = picture("Two.", [Panel(cells), Panel(cells)], phone=500, coloraxis=shared)
    assert [trace["type"] for trace in drawn["data"]] == ["heatmap", "heatmap", "scatter", "scatter"]
    assert drawn["data"][3]["xaxis"] == "x2"
    assert (drawn["narrow"]["coloraxis"]["showscale"], "showscale" in drawn["layout"]["coloraxis"]) == (False, False)


def test_lines_of_one_group_follow_each_other() -> None:
    lines = [line([0], [0], "@first", name, legendgroup=name) for name in ("a", "b")]
    assert [trace["name"] for trace in picture("", [Panel(lines), Panel(lines)])["data"]] == ["a", "a", "b", "b"]


def test_colours_begin_again() -> None:
    assert (series(0), series(9), series(10)) == ("@first", "@first", "@second")


@each_row("text", HOSTILE)
def test_tables_and_lists_on_the_page_escape_what_stands_in_them(text: str) -> None:
    tags = ("table", "caption", "thead", "tbody", "tr", "th", "td")
    assert_safe(quoted(("a", text), [(text, 1)], text), text, tags)
    assert_safe(facts(measures(text, "2", name=text)), text, ("ul", "li", "b", "span"))


def test_a_bar_of_progress_says_what_it_measures() -> None:
    assert 'value="0.2500" max="1" aria-label="training progress"' in progress_bar(0.25, "training progress")


@each_row(
    ("written", "shown"),
    [
        (signed(0.5), "+0.50"),
        (signed(-0.5, 1), "−0.5"),
        (signed(-0.001), "0.00"),
        (signed(0.001), "0.00"),
        (number(14.43), "14.4"),
        (number(0.00012), "1.20e-04"),
        (milliseconds(1234.5), "1,234 ms"),
        (milliseconds(12.34), "12.3 ms"),
        (milliseconds(60.0, ".1f"), "60.0 ms"),
        (ordinal(1), "1st"),
        (ordinal(1012), "1,012th"),
        (ordinal(22), "22nd"),
    ],
)
def test_numbers_as_a_visitor_reads_them(written: str, shown: str) -> None:
    assert written == shown


@pytest.mark.parametrize(("value", "shown"), [(-0.001, "0.00"), (-1.5, "−1.50"), (2.0, "2.00")])
def test_a_number_has_a_minus_sign_and_zero_has_none(value: float, shown: str) -> None:
    assert fixed(value) == shown
    assert fixed(-1.25, 1) == "−1.2"
