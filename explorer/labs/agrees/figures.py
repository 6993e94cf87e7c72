"""Published against computed as pictures, a sentence and tables."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, level, picture, points, rows, texts
from explorer.charts.words import caption, cells, counted, label, prose, signed, strong
from explorer.labs.agrees.schema import NEAR, STANDINGS, Finding, PublishedResult, Standing
from explorer.tables import Table

MOST_APART = 14
"""Rows of the picture of differences: more would not be in view beside the controls."""

COLOURS: dict[Standing, str] = {"equal": "@first", "near": "@third", "open": "@second"}

SIGNS: dict[Standing, str] = {"equal": "=", "near": "≈", "open": "≠"}


def published_table(result: PublishedResult) -> Table:
    """source, quantity, published, computed, agrees, exact (what is computed, in ones and not rounded), how, why."""
    return Table.each(
        result.findings,
        source=lambda one: f"{one.paper}, {one.place}",
        quantity="quantity",
        published="published",
        computed="computed",
        agrees=lambda one: STANDINGS[one.standing],
        exact="value",
        how="how",
        why="why",
    )


def published_sentence(result: PublishedResult) -> Markup:
    """Say how many are equal."""
    every = len(result.findings)
    if not every:
        return prose("None of this paper's figures is of that kind.")
    equal = every - len(result.differing)
    equals = "equals" if equal <= 1 else "equal"
    said = f"Of {counted(every, 'figure')}, computed again and rounded as printed, "
    return prose(said, strong(str(equal) if equal else "none"), f" {equals} what is published.")


def published_notes(result: PublishedResult) -> Markup:
    """State how many figures are nearly equal for a known reason, which one is furthest from print, and which inputs
    were inferred.
    """
    apart, parts = result.differing, list[str]()
    near = sum(one.standing == "near" for one in apart)
    rest = len(apart) - near
    told = [f"{near} {_are(near)} within {NEAR:.0%} for a known reason"] if near else []
    told += [f"{rest} {_are(rest)} further apart or open"] if rest else []
    if apart:
        first = apart[0]  # the furthest: `differing` is sorted
        parts += [f"{' and '.join(told)}. Furthest apart: ", _source(first), ", ", first.quantity]
        parts.append(f", printed as {first.published} and computed as {first.computed} ({_apart(first)}). ")
    if given := sum(one.agrees and one.inferred for one in result.findings):
        parts.append(
            f"For {given} of those that are equal a width, rank or length was inferred from the figure itself."
        )
    return caption(*parts) if parts else Markup("")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _source(finding: Finding) -> str:
    return f"{_short(finding.paper)}, {finding.place}"


def _short(paper: str) -> str:
    return paper.split(" (")[0]


def _apart(finding: Finding) -> str:
    return f"{signed(100 * finding.apart, 1)}%"


def published_figure(result: PublishedResult, view: str) -> Picture | str:
    """Draw how many figures of each paper or table agree, or how far apart the others are; return "" if there are no
    figures.
    """
    if not result.findings or (view == "apart" and not result.differing):
        return ""
    return _far_apart(result) if view == "apart" else _by_source(result)


def _by_source(result: PublishedResult) -> Picture:
    groups = {_short(name): found for name, found in result.grouped().items()}
    agreeing = [sum(one.agrees for one in found) for found in groups.values()]
    names = [label(name) for name in groups]
    traces: list[Trace] = []
    for standing, said in STANDINGS.items():
        counts = [sum(one.standing == standing for one in found) for found in groups.values()]
        traces.append(bars(names, counts, COLOURS[standing], said, hover=f"%{{y}}: %{{x}} {said}"))
    of_all = [f" {count} of {len(found)} equal" for count, found in zip(agreeing, groups.values(), strict=True)]
    ends = [len(found) for found in groups.values()]
    font, at = {"color": "@text", "size": 14}, "middle right"
    traces.append(texts(ends, names, of_all, textposition=at, textfont=font, cliponaxis=False))
    # Room for the counts beside the bars, of which a phone needs more.
    wide, narrow = (axis("published figures, computed again", span=(0, room * max(ends))) for room in (1.25, 1.8))
    height, down = 110 + 32 * len(groups), axis(names=True, down=True)
    look: Look = {"legend": True, "barmode": "stack", "bargap": 0.3, "height": height, "phone": height + 60}
    return picture(published_sentence(result), [Panel(traces, wide, down, alone=Panel((), narrow, down))], **look)


def _far_apart(result: PublishedResult) -> Picture:
    shown = result.differing[:MOST_APART]
    apart, places = [one.apart for one in shown], list(range(len(shown)))
    trace = points(apart, places, [COLOURS[one.standing] for one in shown], size=12, hover="%{x:+.2%}")
    reach = 1.15 * max(map(abs, apart))  # the same to both sides, so that zero stands in the middle
    across = axis("difference", span=(-reach, reach), tickformat="+.0%", nticks=6, tickangle=0, zeroline=False)
    names = [f"{label(f'{_source(one)}: {one.quantity}', 32)}  <b>{_change(one)}</b>" for one in shown]
    short = [f"{_source(one)}<br><b>{_change(one)}</b>" for one in shown]  # on a phone the quantity has no room
    wide, narrow = (rows(ticks, size=size, zeroline=False) for ticks, size in ((names, 13), (short, 12)))
    zero = [level(0, upright=True)]
    panel = Panel([trace], across, wide, marks=zero, alone=Panel([trace], across, narrow, marks=zero))
    height = 90 + 26 * len(shown)
    return picture(published_sentence(result), [panel], height=height, phone=90 + 34 * len(shown))


def _change(finding: Finding) -> str:
    return f"{finding.published} → {finding.computed}"


def published_view(result: PublishedResult) -> Markup:
    """Return a table a paper, with what explains a difference beside each figure.

    A table is folded unless it is the only one.
    """
    papers = {name: [one for one in result.findings if one.paper == name] for name in _papers(result)}
    folds = [
        Markup("<details{}><summary>{}: {} of {} agree</summary>{}</details>").format(
            Markup(" open") if len(papers) == 1 else "",
            name,
            sum(one.agrees for one in found),
            len(found),
            _rows(found),
        )
        for name, found in papers.items()
    ]
    return Markup('<div class="agrees">{}</div>').format(Markup("").join(folds))


def _papers(result: PublishedResult) -> list[str]:
    return list(dict.fromkeys(one.paper for one in result.findings))


def _rows(found: list[Finding]) -> Markup:
    """Return one paper's figures, those of a table together."""
    body, place = Markup(""), ""
    for one in found:
        if one.place != place:
            body += Markup('<tr class="place"><th colspan="4" scope="colgroup">{}</th></tr>').format(one.place)
        place = one.place
        body += _row(one)
    head = cells(("what", "published", "computed", "how, and what explains a difference"), "th")
    table = Markup('<table class="quoted"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
    return table.format(head, body)


def _row(one: Finding) -> Markup:
    mark = Markup('<abbr class="verdict {0}" title="{1}" aria-label="{1}">{2}</abbr> ').format(
        one.standing, STANDINGS[one.standing], SIGNS[one.standing]
    )
    exact = Markup(' <span class="apart">{}</span>').format(_apart(one)) if not one.agrees else ""
    why = Markup(' <span class="reason">{}</span>').format(one.why) if one.why else ""
    cell = Markup("<tr{}><td>{}</td><td>{}</td><td>{}{}{}</td><td>{}{}</td></tr>")
    differs = Markup(' class="differs"') if not one.agrees else ""
    how = f"{one.how}." if one.why else one.how  # the reason that follows is a sentence
    return cell.format(differs, one.quantity, one.published, mark, one.computed, exact, how, why)
