"""The masking lab's pictures, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import percent, picture, prose, strong
from explorer.labs.masking.schema import (
    CorruptResult,
    FilledMask,
    FillResult,
    PatternsResult,
    SharesResult,
)
from explorer.tables import Table

FATES = ("untouched", "mask", "random", "kept")
FATE_NAMES = {"untouched": "untouched", "mask": "[MASK]", "random": "random token", "kept": "kept as it is"}
COLUMNS = 3
"""Masks beside each other in one row of bars."""


def fill_chips(result: FillResult) -> dict[str, Any]:
    """The token chips: which can be clicked, which are masked."""
    chips = [
        {
            "text": result.mask_token if token.state in ("masked", "blank") else token.shown,
            "joined": token.joined,
            "style": {"masked": "mask", "blank": "mask", "special": "special"}.get(token.state, "plain"),
            "position": token.position if token.state in ("plain", "masked") else None,
            "pressed": token.state == "masked",
            "title": f"{token.text}, position {token.position}"
            + (" (not in this model's vocabulary)" if token.unknown else ""),
            "below": token.shown if token.state == "masked" else "",
        }
        for token in result.tokens
    ]
    return {"chips": chips, "label": "Tokens. Press one to hide it."}


def fill_table(result: FillResult) -> Table:
    """position, rank, token, probability."""
    rows = [
        (mask.position, guess.rank, guess.token, guess.probability)
        for mask in result.masks
        for guess in mask.predictions
    ]
    return Table.of(("position", "rank", "token", "probability"), rows)


def fill_sentence(result: FillResult) -> Markup:
    """What the bars show, from the numbers."""
    if not result.masks:
        return prose("Nothing is hidden yet: press a token above to hide it, or type ", strong(result.mask_token), ".")
    parts: list[str] = []
    for mask in result.masks[:3]:
        best = mask.predictions[0]
        parts += [f"At position {mask.position} ", strong(best.token.strip()), f" leads with {percent(best.probability)}"]
        if mask.hidden is not None and mask.hidden_rank is not None and mask.hidden_probability is not None:
            if mask.hidden_rank == 1:
                parts.append(", and that is the hidden token")
            else:
                parts += ["; the hidden token ", strong(mask.hidden.strip())]
                parts.append(f" comes {ordinal(mask.hidden_rank)} with {percent(mask.hidden_probability)}")
        parts.append(". ")
    if len(result.masks) > 3:
        parts.append(f"{len(result.masks) - 3} more masks are in the table. ")
    parts.append(f"Each mask is guessed on its own, from {result.vocabulary:,} tokens.")
    unknown = sum(token.unknown for token in result.tokens)
    if unknown:
        parts.append(f" {unknown} of the tokens are unknown to this vocabulary ([UNK]), so the model reads only the rest.")
    return prose(*parts)


def fill_figure(result: FillResult) -> dict[str, Any]:
    """Bars of the top predictions, a panel a mask (six at most); the hidden token's bar is highlighted."""
    masks = result.masks[: 2 * COLUMNS]
    columns = max(1, min(COLUMNS, len(masks)))
    rows = max(1, -(-len(masks) // columns))
    traces, changes, titles = [], {}, []
    for number, mask in enumerate(masks):
        suffix = "" if number == 0 else str(number + 1)
        traces.append(_bars(mask, suffix))
        column, row = number % columns, number // columns
        left, right = column / columns + (0.09 if column else 0.0), (column + 1) / columns - 0.02
        top, bottom = 1 - row / rows - (0.12 if row else 0.0), 1 - (row + 1) / rows + 0.04 * (rows > 1)
        longest = max(guess.probability for guess in mask.predictions)
        changes[f"xaxis{suffix}"] = {
            "domain": [left, right],
            "range": [0, longest * 1.32],
            "tickformat": ".0%",
            "nticks": 4,
            "anchor": f"y{suffix}",
        }
        changes[f"yaxis{suffix}"] = {
            "domain": [max(0.0, bottom), top],
            "autorange": "reversed",
            "anchor": f"x{suffix}",
            "type": "category",
            "showgrid": False,
            "tickfont": {"size": 18},
        }
        titles.append(
            {
                "text": f"mask at position {mask.position}",
                "x": left,
                "y": top,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 15},
            }
        )
    most = max((len(mask.predictions) for mask in masks), default=1)
    changes |= {"annotations": titles, "height": rows * max(220, 70 + 34 * most), "bargap": 0.25}
    return picture(traces, fill_sentence(result).striptags(), **changes)


def _bars(mask: FilledMask, suffix: str) -> dict[str, Any]:
    """One mask's bars. Labels are numbered behind the scenes, so that two tokens that look alike keep a bar each."""
    names = [visible(guess.token) for guess in mask.predictions]
    places = [f"{name}\u200b" + "\u200b" * place for place, name in enumerate(names)]
    hidden = mask.hidden
    return {
        "type": "bar",
        "orientation": "h",
        "x": [guess.probability for guess in mask.predictions],
        "y": places,
        "text": [percent(guess.probability) for guess in mask.predictions],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 17},
        "marker": {"color": ["@highlight" if guess.token == hidden else "@accent" for guess in mask.predictions]},
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "hovertemplate": "%{y}: %{x:.4%}<extra></extra>",
    }


def visible(token: str) -> str:
    """A token for an axis label: never empty, never markup (Plotly reads <b> and the like in labels), never long."""
    text = token.strip() or repr(token)
    text = text if len(text) <= 18 else text[:17] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fill_facts(result: FillResult) -> Markup:
    """One line of measures for each mask: the hidden token's rank, probability and -ln p, and the entropy."""
    lines = []
    for mask in result.masks:
        cells = [f"entropy {mask.entropy:.2f} bits"]
        if mask.hidden is not None and mask.hidden_probability is not None:
            cells = [
                f"hidden token {mask.hidden.strip()}",
                f"rank {mask.hidden_rank:,} of {result.vocabulary:,}",
                f"p = {percent(mask.hidden_probability)}",
                f"−ln p = {mask.surprisal:.2f} nats",
                *cells,
            ]
        spans = Markup("").join(Markup("<span>{}</span>").format(cell) for cell in cells)
        lines.append(Markup("<li><b>position {}</b>{}</li>").format(mask.position, spans))
    return Markup('<ul class="facts">{}</ul>').format(Markup("").join(lines)) if lines else Markup("")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number:,}{ending}"


def corrupt_chips(result: CorruptResult) -> dict[str, Any]:
    """What the model sees, coloured by fate; the original stands below a token that was replaced."""
    chips = [
        {
            "text": clean(token.shown) if token.fate in ("mask", "random") else token.shown_original,
            "joined": token.joined,
            "style": "special" if token.special else token.fate,
            "position": None,
            "pressed": False,
            "title": f"{token.original}, position {token.position}: {FATE_NAMES[token.fate]}",
            "below": token.shown_original if token.fate in ("mask", "random") else "",
        }
        for token in result.tokens
    ]
    return {"chips": chips, "label": "Tokens as the model sees them"}


def clean(token: str) -> str:
    """A vocabulary entry without its word-boundary marks."""
    return token.removeprefix("##").replace("Ġ", "").replace("▁", "") or token


def legend() -> Markup:
    """The fates' colours, in words."""
    items = Markup("").join(
        Markup('<span class="swatch {}">{}</span>').format(fate, FATE_NAMES[fate]) for fate in FATES[1:]
    )
    return Markup('<div class="legend">{}<span class="below-note">below a chip: the original</span></div>').format(items)


def corrupt_table(result: CorruptResult) -> Table:
    """position, original, shown, fate, loss (nats; empty where nothing is predicted)."""
    rows = [(t.position, t.original, t.shown, t.fate, t.loss) for t in result.tokens]
    return Table.of(("position", "original", "shown", "fate", "loss"), rows)


def corrupt_sentence(result: CorruptResult) -> Markup:
    """How many were chosen, what became of them, and that the loss is the mean of their terms."""
    chosen = [token for token in result.tokens if token.fate != "untouched"]
    candidates = sum(not token.special for token in result.tokens)
    if not chosen or result.mean_loss is None or result.model_loss is None:
        return prose("No token is chosen at this rate, so there is nothing to predict and no loss.")
    counts = {fate: sum(token.fate == fate for token in chosen) for fate in FATES[1:]}
    hardest = max(chosen, key=lambda token: token.loss or 0.0)
    return prose(
        strong(f"{len(chosen)} of {candidates}"),
        f" tokens are chosen: {counts['mask']} become [MASK], {counts['random']} random, {counts['kept']} stay. "
        "The loss is the mean of their terms, ",
        strong(f"{result.mean_loss:.4f}"),
        f" nats; the model's own labels= loss is {result.model_loss:.4f}. Hardest to guess: ",
        strong(hardest.shown_original),
        f" ({hardest.loss:.2f}).",
    )


def corrupt_figure(result: CorruptResult) -> dict[str, Any]:
    """A bar for each chosen position's loss, coloured by fate, and a line at the mean."""
    chosen = [token for token in result.tokens if token.loss is not None]
    labels = [f"{visible(token.shown_original)}<br>{token.position}" for token in chosen]
    traces = [
        {
            "type": "bar",
            "name": FATE_NAMES[fate],
            "x": [label for label, token in zip(labels, chosen, strict=True) if token.fate == fate],
            "y": [token.loss for token in chosen if token.fate == fate],
            "text": [f"{token.loss:.2f}" for token in chosen if token.fate == fate],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": f"@{fate}"},
            "hovertemplate": "%{x}: −ln p = %{y:.4f} nats<extra>" + FATE_NAMES[fate] + "</extra>",
        }
        for fate in FATES[1:]
        if any(token.fate == fate for token in chosen)
    ]
    shapes, notes = [], []
    if result.mean_loss is not None:
        line = {"color": "@text", "width": 2, "dash": "dash"}
        shapes = [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": result.mean_loss, "y1": result.mean_loss, "line": line}
        ]
        notes = [
            {
                "text": f"mean = loss = {result.mean_loss:.3f}",
                "xref": "paper",
                "x": 1,
                "y": result.mean_loss,
                "xanchor": "right",
                "yanchor": "bottom",
                "showarrow": False,
            }
        ]
    return picture(
        traces,
        corrupt_sentence(result).striptags(),
        height=300,
        shapes=shapes,
        annotations=notes,
        showlegend=len(traces) > 1,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"type": "category", "categoryorder": "array", "categoryarray": labels, "showgrid": False},
        yaxis={"title": {"text": "loss −ln p (nats)"}, "rangemode": "tozero"},
    )


def shares_table(result: SharesResult) -> Table:
    """draws, chosen (of all tokens), mask, random, kept (of the chosen)."""
    rows = zip(result.draws, result.chosen, result.mask, result.random, result.kept, strict=True)
    return Table.of(("draws", "chosen", "mask", "random", "kept"), list(rows))


def shares_figure(result: SharesResult) -> dict[str, Any]:
    """Four running shares over the number of draws, each with the slider's value as a dashed line."""
    series = (
        ("chosen, of all tokens", result.chosen, "muted"),
        ("[MASK], of the chosen", result.mask, "mask"),
        ("random", result.random, "random"),
        ("kept", result.kept, "kept"),
    )
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": name,
            "x": result.draws,
            "y": values,
            "line": {"color": f"@{role}", "width": 3},
            "hovertemplate": "%{x} draws: %{y:.2%}<extra>" + name + "</extra>",
        }
        for name, values, role in series
    ]
    shapes = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": value,
            "y1": value,
            "line": {"color": f"@{role}", "width": 1.5, "dash": "dot"},
        }
        for value, (_, _, role) in zip(result.expected, series, strict=True)
    ]
    return picture(
        traces,
        shares_sentence(result).striptags(),
        height=360,
        shapes=shapes,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"type": "log", "title": {"text": "draws"}, "dtick": 1},
        yaxis={"tickformat": ".0%", "range": [-0.02, 1.02]},
    )


def shares_sentence(result: SharesResult) -> Markup:
    """Where the shares stand after the last draw, beside what the sliders say."""
    rate, mask, random, kept = result.expected
    return prose(
        f"After {result.draws[-1]:,} draws of {result.candidates} tokens, ",
        strong(percent(result.chosen[-1])),
        f" were chosen (the slider says {percent(rate)}; BERT rounds to whole tokens in each text). Of those, ",
        strong(percent(result.mask[-1])),
        f" became [MASK] ({percent(mask)}), ",
        strong(percent(result.random[-1])),
        f" random ({percent(random)}) and ",
        strong(percent(result.kept[-1])),
        f" stayed ({percent(kept)}).",
    )


def patterns_table(result: PatternsResult) -> Table:
    """epoch, position, token, static, dynamic; only where either of the two chose the token."""
    rows = [
        (epoch + 1, position, result.tokens[position], FATES[static], FATES[dynamic])
        for epoch, (static_row, dynamic_row) in enumerate(zip(result.static, result.dynamic, strict=True))
        for position, (static, dynamic) in enumerate(zip(static_row, dynamic_row, strict=True))
        if static or dynamic
    ]
    return Table.of(("epoch", "position", "token", "static", "dynamic"), rows)


def patterns_sentence(result: PatternsResult) -> Markup:
    """How often the model meets something new under each of the two."""
    epochs = len(result.static)
    return prose(
        f"In {epochs} epochs static masking shows ",
        strong(f"{result.distinct_static} different maskings"),
        f" of this text, again and again; dynamic masking shows {result.distinct_dynamic}. "
        "RoBERTa's Table 1 finds dynamic slightly better or equal: SQuAD 2.0 F1 78.7 against 78.3, MNLI-m 84.0 against "
        "84.3, SST-2 92.9 against 92.5 (Liu et al. 2019).",
    )


def patterns_figure(result: PatternsResult) -> dict[str, Any]:
    """Two grids, epochs down and tokens across, coloured by fate."""
    scale = [
        [edge, f"@{fate}"]
        for place, fate in enumerate(FATES)
        for edge in (place / len(FATES), (place + 1) / len(FATES))
    ]
    labels = [f"{place} {visible(token)}" for place, token in enumerate(result.tokens)]
    epochs = list(range(1, len(result.static) + 1))
    traces = [
        _fate_grid(rows, labels, epochs, scale, suffix)
        for rows, suffix in ((result.static, ""), (result.dynamic, "2"))
    ]
    axis = {"showgrid": False, "showticklabels": len(labels) <= 40, "tickangle": -60, "tickfont": {"size": 12}}
    down = {"autorange": "reversed", "showgrid": False, "title": {"text": "epoch"}}
    return picture(
        traces,
        patterns_sentence(result).striptags(),
        height=520,
        annotations=[_heading("static: BERT's copies, reused", 0.0), _heading("dynamic: drawn anew", 0.54)],
        xaxis={**axis, "domain": [0, 0.46]},
        xaxis2={**axis, "domain": [0.54, 1], "anchor": "y2"},
        yaxis=down,
        yaxis2={**down, "anchor": "x2", "title": {"text": ""}},
    )


def _fate_grid(
    rows: Sequence[Sequence[int]], labels: list[str], epochs: list[int], scale: list[list[Any]], suffix: str
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": [list(row) for row in rows],
        "x": labels,
        "y": epochs,
        "text": [[FATE_NAMES[FATES[fate]] for fate in row] for row in rows],
        "hovertemplate": "epoch %{y}, %{x}: %{text}<extra></extra>",
        "colorscale": scale,
        "zmin": 0,
        "zmax": len(FATES) - 1,
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
    }


def _heading(text: str, left: float) -> dict[str, Any]:
    return {
        "text": text,
        "x": left,
        "y": 1.0,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
