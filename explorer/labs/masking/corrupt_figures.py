"""Corruption as pictures, sentences and tables: one draw, the shares of many, and the patterns of the epochs."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, axis, bars, chart, heat, level, line, note, picture
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, in_quotes, percent, prose, quoted, strong
from explorer.labs.masking.fill_figures import visible
from explorer.labs.masking.schema import CorruptedToken, CorruptResult, PatternsResult, SharesResult
from explorer.models.published import BERT_TABLE_8
from explorer.tables import Table

FATES = ("untouched", "mask", "random", "kept")
FATE_NAMES = {"untouched": "untouched", "mask": "[MASK]", "random": "random token", "kept": "kept as it is"}


def corrupt_chips(result: CorruptResult) -> dict[str, Any]:
    """Return what the model sees as chips, coloured by fate; the original stands below a token that was replaced."""
    row = []
    for token in result.tokens:
        replaced = token.fate in ("mask", "random")
        text, below = (clean(token.shown), token.shown_original) if replaced else (token.shown_original, "")
        title = f"{token.original}, position {token.position}: {FATE_NAMES[token.fate]}"
        row.append(chip(text, title, "special" if token.special else token.fate, joined=token.joined, below=below))
    return chips("Tokens as the model sees them", row)


def clean(token: str) -> str:
    """Return a vocabulary entry without its word-boundary marks."""
    return token.removeprefix("##").replace("Ġ", "").replace("▁", "") or token  # a mark alone stays


def legend() -> Markup:
    """Draw the fates' colours, in words."""
    swatch = Markup('<span class="swatch {}">{}</span>')
    items = Markup("").join(swatch.format(fate, FATE_NAMES[fate]) for fate in FATES[1:])
    return Markup('<div class="legend">{}<span class="below-note">below a chip: the original</span></div>').format(
        items
    )


def mixtures() -> Markup:
    """Quote what BERT's authors measured of six mixtures, and say what follows from it."""
    heads = ("[MASK]", "kept", "random", "MNLI", "NER", "NER by features")
    rows = [(*(f"{share}%" for share in shares), *scores) for shares, *scores in BERT_TABLE_8]
    return quoted(heads, rows, "Six mixtures (Devlin et al. 2019, Appendix C.2, Table 8)") + caption(
        "Fine-tuned, MNLI stays within 0.8 points, and random tokens alone do worst there. Features of a model that saw [MASK] "
        "alone lose 0.9 on named entities: without fine-tuning it has no chance to get used to text without [MASK]."
    )


def corrupt_table(result: CorruptResult) -> Table:
    """position, original, shown, fate, loss (nats; empty if nothing is predicted)."""
    return Table.each(result.tokens, "position original shown fate loss")


def corrupt_sentence(result: CorruptResult) -> Markup:
    """Say how many were chosen, and which is hardest to guess."""
    chosen = _chosen(result)
    candidates = sum(not token.special for token in result.tokens)
    if not chosen or result.mean_loss is None or result.model_loss is None:
        return prose("No token is chosen at this rate, so there is nothing to predict and no loss.")
    hardest = max(chosen, key=lambda token: token.loss or 0.0)
    are = "is" if len(chosen) == 1 else "are"
    count = strong(f"{len(chosen)} of {candidates}")
    return prose(count, f" tokens {are} chosen; hardest to guess is ", in_quotes(hardest.shown_original), ".")


def corrupt_notes(result: CorruptResult) -> Markup:
    """Say what became of the chosen ones, and that the loss is the mean of their terms."""
    chosen = _chosen(result)
    if not chosen or result.mean_loss is None or result.model_loss is None:
        return Markup("")
    counts = {fate: sum(token.fate == fate for token in chosen) for fate in FATES[1:]}
    hardest = max(token.loss or 0.0 for token in chosen)
    return caption(
        f"{counts['mask']} as [MASK], {counts['random']} random, {counts['kept']} kept. The loss is the mean of their terms, "
        f"{result.mean_loss:.4f} nats; {_as_transformers(result.mean_loss, result.model_loss)}. The largest is {hardest:.2f}."
    )


def _chosen(result: CorruptResult) -> list[CorruptedToken]:
    return [token for token in result.tokens if token.fate != "untouched"]


def _as_transformers(mean: float, loss: float) -> str:
    """Say whether the model's own loss, by `labels=`, is the same in the digits that are shown."""
    same = f"{mean:.4f}" == f"{loss:.4f}"
    return f"transformers computes {'the same' if same else 'another one'}: {loss:.4f}"


def corrupt_figure(result: CorruptResult) -> Picture:
    """Draw a bar for each chosen position's loss, coloured by fate, and a line at the mean."""
    chosen = [
        (token.fate, f"{visible(token.shown_original)}<br>{token.position}", token.loss)
        for token in result.tokens
        if token.loss is not None
    ]
    drawn, marks = [], []
    for fate in FATES[1:]:
        names = [name for of, name, _ in chosen if of == fate]
        losses = [loss for of, _, loss in chosen if of == fate]
        look: Look = {"texts": [f"{loss:.2f}" for loss in losses], "aside": FATE_NAMES[fate]}
        if losses:
            hover = "%{x}: −ln p = %{y:.4f} nats"
            drawn.append(bars(names, losses, f"@{fate}", FATE_NAMES[fate], upright=True, hover=hover, **look))
    if (mean := result.mean_loss) is not None:
        marks = [level(mean), note(f"mean<br>{mean:.3f}", 1.01, mean, xref="paper", xanchor="left", yanchor="middle")]
    across = axis(names=True, categoryorder="array", categoryarray=[name for _, name, _ in chosen])
    up = axis("loss −ln p (nats)", zero=True)
    return chart(corrupt_sentence(result), drawn, across, up, marks, height=215, right=70)


def shares_table(result: SharesResult) -> Table:
    """draws, chosen (of all tokens), mask, random, kept (of the chosen)."""
    rows = zip(result.draws, result.chosen, result.mask, result.random, result.kept, strict=True)
    return Table.of(("draws", "chosen", "mask", "random", "kept"), list(rows))


def shares_figure(result: SharesResult) -> Picture:
    """Draw four running shares over the number of draws, each with the slider's value as a dashed line."""
    series = (
        ("chosen, of all tokens", result.chosen, "@muted"),
        ("[MASK], of the chosen", result.mask, "@mask"),
        ("random", result.random, "@random"),
        ("kept", result.kept, "@kept"),
    )
    hover, draws = "%{x} draws: %{y:.2%}", result.draws
    lines = [line(draws, values, colour, name, hover=hover, aside=name) for name, values, colour in series]
    expected = zip(result.expected, series, strict=True)
    marks = [level(value, colour, width=1.5, dash="dot") for value, (_, _, colour) in expected]
    across, up = axis("draws", log=True, dtick=1), axis(percent=True, span=(-0.02, 1.02))
    return chart(shares_sentence(result), lines, across, up, marks, height=360, legend=True)


def shares_sentence(result: SharesResult) -> Markup:
    """Say which share was chosen after the last draw."""
    chosen = strong(percent(result.chosen[-1]))
    return prose(f"After {result.draws[-1]:,} draws ", chosen, " of the tokens were chosen.")


def shares_notes(result: SharesResult) -> Markup:
    """Say where the shares stand after the last draw, beside what the sliders say."""
    rate, mask, random, kept = (percent(share) for share in result.expected)
    became = [percent(shares[-1]) for shares in (result.mask, result.random, result.kept)]
    return caption(
        f"Of {result.candidates} tokens; the slider says {rate}, and BERT rounds to whole tokens in each text. Of those chosen, "
        f"{became[0]} became [MASK] ({mask}), {became[1]} random ({random}) and {became[2]} stayed ({kept})."
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
    """Say how often the model meets something new under each of the two."""
    epochs = len(result.static)
    again = ", some of them more than once"
    if result.distinct_static == epochs:
        again = " (with at least as many copies as epochs none comes back)"
    elif 2 * result.distinct_static <= epochs:
        again = ", again and again"
    maskings = strong(f"{result.distinct_static} different masking{'s' if result.distinct_static > 1 else ''}")
    return prose("Static masking shows ", maskings, f" of this text{again}, dynamic masking {result.distinct_dynamic}.")


def patterns_notes(result: PatternsResult) -> Markup:
    """Say in how many epochs, and what RoBERTa's authors measured of the two."""
    return caption(
        f"In {len(result.static)} epochs. RoBERTa's Table 1 finds the two close, dynamic comparable or slightly better: SQuAD "
        "2.0 F1 78.7 against 78.3, MNLI-m 84.0 against 84.3, SST-2 92.9 against 92.5 (Liu et al. 2019)."
    )


def patterns_figure(result: PatternsResult) -> Picture:
    """Draw two grids, epochs down and tokens across, coloured by fate."""
    parts = len(FATES)
    # Each fate's colour twice, at both ends of its part: a scale in steps.
    scale = [[edge / parts, f"@{fate}"] for place, fate in enumerate(FATES) for edge in (place, place + 1)]
    names = [f"{place} {visible(token)}" for place, token in enumerate(result.tokens)]
    across = axis(grid=False, size=14, showticklabels=len(names) <= 40, tickangle=-60)
    epochs, panels = range(1, len(result.static) + 1), []
    for title, rows in (("static: BERT's copies, reused", result.static), ("dynamic: drawn anew", result.dynamic)):
        fates = [[FATE_NAMES[FATES[fate]] for fate in row] for row in rows]
        hover = "epoch %{y}, %{x}: %{text}"
        cells = heat(names, epochs, rows, scale, (0, parts - 1), gap=1, hover=hover, text=fates)
        panels.append(Panel(cells, across, axis("epoch", grid=False, down=True, outer=True), title))
    return picture(patterns_sentence(result), panels, height=520)
