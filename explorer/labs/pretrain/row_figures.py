"""One row as numbered steps: chips, sentences, the table. The picture of both losses is in row_loss_figures.py."""

from __future__ import annotations

from math import exp
from typing import Any

from markupsafe import Markup

from explorer.charts.chips import Chip, chip, chips
from explorer.charts.words import caption, counted, fixed, in_quotes, percent, prose, quoted, strong
from explorer.labs.pretrain.row import CLASSES, RowResult, RowToken, Segment
from explorer.tables import Table

FATE_NAMES = {"mask": "[MASK]", "random": "random token", "kept": "kept as it is"}
MOST_SENTENCES = 8
"""Of a document that is shown whole."""
MOST_ROWS = 12
"""Of the table of terms."""
MOST_TERMS = 4
"""Of the mean that the formula writes out."""


def step(number: int, title: str) -> Markup:
    """Write the heading of a step."""
    return Markup('<h2 class="row-step"><span>{}</span>{}</h2>').format(number, title)


def model_line(result: RowResult, chosen: str = "") -> Markup:
    """Say which model answers, if it isn't the chosen one."""
    if chosen in ("", result.model):
        return Markup("")
    return caption(
        f"{chosen} doesn't have both of BERT's heads, for masks and for the next sentence: {result.model} answers."
    )


def drawn_view(result: RowResult) -> Markup:
    """Draw the first two steps: both documents with the sentences that A and B are taken from; the third's heading."""
    both = Markup("").join(_document(result, number) for number in (0, 1))
    documents = Markup('<div class="row-documents">{}</div>').format(both)
    return prose(
        _of(1, step(1, "Two documents, cut into sentences"), documents),
        _of(2, step(2, "A pair is drawn"), draw_line(result)),
        _of(3, step(3, "The row: [CLS] A [SEP] B [SEP]")),
    )


def _of(number: int, *parts: Markup) -> Markup:
    """Wrap what belongs to a step, as the page's bar of steps knows it."""
    return Markup('<div class="of-{}">{}</div>').format(number, prose(*parts))


def _document(result: RowResult, number: int) -> Markup:
    """List a document's sentences; of a long one those of A and B, and those beside them."""
    sentences, lines, left = result.documents[number], Markup(""), 0
    for place, sentence in enumerate(sentences):
        name = next((name for name, part in _segments(result) if part.has(number, place)), "")
        # The first always stands: a list that began with dots would not look like a document.
        if len(sentences) > MOST_SENTENCES and place > 0 and not _is_near(result, number, place):
            left += 1
            continue
        lines, left = lines + _left_out(left), 0
        style = {"A": "in-a", "B": "in-b"}.get(name, "")
        lines += Markup('<li class="{}"><span>{}</span> <b>{}</b> {}</li>').format(style, place + 1, name, sentence)
    return Markup('<div><p class="caption">Document {}</p><ol>{}{}</ol></div>').format(
        number + 1, lines, _left_out(left)
    )


def _is_near(result: RowResult, number: int, place: int) -> bool:
    """Return whether a sentence, or one beside it, is of A or B."""
    return any(part.has(number, place + step) for _, part in _segments(result) for step in (-1, 0, 1))


def _left_out(count: int) -> Markup:
    return Markup('<li class="caption">… {}</li>').format(f"{counted(count, 'more sentence')}") if count else Markup("")


def _segments(result: RowResult) -> tuple[tuple[str, Segment], ...]:
    return ("A", result.a), ("B", result.b)


def draw_line(result: RowResult) -> Markup:
    """Say where A and B come from, who said so, and what had no room."""
    said = "The coin says: " if result.tossed else "Chosen by hand: "
    parts = [said, strong(result.truth), f". A is {_place(result.a)}, B is {_place(result.b)}. "]
    if result.cut:
        parts.append(
            f"Together with three special tokens they are longer than a row of {result.room}: "
            f"{counted(result.cut, 'token')} at the ends of the longer one are cut. "
        )
    if result.same:
        parts.append(
            "Both documents are the same text, so a B from document 2 may be the true continuation all the same: then the label "
            "is wrong, and nothing in the row tells. "
        )
    return Markup("<p>{}</p>").format(prose(*parts))


def _place(segment: Segment) -> str:
    first, last = segment.first + 1, segment.stop
    joint = "and" if last == first + 1 else "to"
    which = f"sentence {first}" if first == last else f"sentences {first} {joint} {last}"
    return f"{which} of document {segment.document + 1}"


def row_chips(result: RowResult) -> dict[str, Any]:
    """Return the row before anything is hidden; below each token its segment and its position."""
    row = []
    for token in result.tokens:
        style = ("segment-a", "segment-b")[token.segment] + (" special" if token.special else "")
        title = f"{token.token}: segment {token.segment}, position {token.position}"
        row.append(_chip(token.token, title, style, f"{token.segment} · {token.position}"))
    return chips("The row: tokens, with segment and position below each", row)


def corrupted_chips(result: RowResult) -> dict[str, Any]:
    """Return the row as the model sees it, coloured by fate; the original stands below a token that was replaced."""
    row = []
    for token in result.tokens:
        style = "special" if token.special else token.fate
        told = FATE_NAMES.get(token.fate, "untouched")
        below = plain(token.token) if token.fate in ("mask", "random") else ""
        row.append(_chip(token.shown, f"{token.token}, position {token.position}: {told}", style, below))
    return chips("The row as the model sees it", row)


def _chip(token: str, title: str, style: str, below: str) -> Chip:
    return chip(plain(token), title, style, joined=token.startswith("##"), below=below)


def plain(token: str) -> str:
    """Return a token without the mark of a word that goes on."""
    return token.removeprefix("##") or token


def legend() -> Markup:
    """Draw the fates' colours, in words."""
    swatch = Markup('<span class="swatch {}">{}</span>')
    items = Markup("").join(swatch.format(fate, name) for fate, name in FATE_NAMES.items())
    return Markup('<div class="legend">{}<span class="below-note">below a chip: the original</span></div>').format(
        items
    )


def hidden_view(result: RowResult) -> Markup:
    """Write what stands between the two rows of chips."""
    below = caption("Below each token: segment · position.")
    return prose(_of(3, below), _of(4, step(4, "Some tokens are hidden"), hidden_line(result)))


def hidden_line(result: RowResult) -> Markup:
    """Say how many tokens are chosen, and what became of them."""
    chosen, candidates = result.chosen, sum(not token.special for token in result.tokens)
    if not chosen:
        return Markup("<p>{}</p>").format("At this rate no token is chosen, so the model is asked for none.")
    counts = {fate: sum(token.fate == fate for token in chosen) for fate in FATE_NAMES}
    return Markup("<p>{}</p>").format(
        prose(
            strong(f"{len(chosen)} of {candidates}"),
            f" tokens {'is' if len(chosen) == 1 else 'are'} chosen: {counts['mask']} as [MASK], {counts['random']} random, "
            f"{counts['kept']} kept. [CLS] and [SEP] never are.",
        )
    )


def row_sentence(result: RowResult) -> Markup:
    """Say how many of the chosen tokens the model guesses, and whether it is right about the pair."""
    right = result.pair[CLASSES.index(result.truth)]
    pair = (
        "is right about the pair"
        if right > 0.5
        else "cannot tell the pair"
        if right == 0.5
        else "is wrong about the pair"
    )
    if result.mlm_loss is None:
        return prose("Nothing is hidden, so there is no MLM loss; ", result.model, f" {pair}.")
    guessed = strong(f"{sum(token.guess == token.token for token in result.chosen)} of {len(result.chosen)}")
    tokens = "token" if len(result.chosen) == 1 else "tokens"
    return prose(result.model, " guesses ", guessed, f" chosen {tokens} right and {pair}.")


def row_notes(result: RowResult) -> Markup:
    """State both losses and their sum."""
    right = result.pair[CLASSES.index(result.truth)]
    parts: list[str] = []
    if result.mlm_loss is not None:
        hardest = max(result.chosen, key=lambda token: token.loss or 0.0)
        parts += ["The hardest is ", in_quotes(hardest.token, bold=False)]
        parts.append(f", at P = {percent(hardest.probability or 0.0)}. ")
        parts.append(f"The mean of −ln P, the MLM loss, is {fixed(result.mlm_loss, 4)} nats. ")
    pair = f"The pair is “{result.truth}”, and gets P = {percent(right)} for it: the NSP loss is {fixed(result.nsp_loss, 4)} nats"
    return caption(*parts, f"{pair}. The row's loss is their sum, {fixed(result.total, 4)}.")


def terms_table(result: RowResult) -> Markup:
    """Tabulate each chosen token: what stood there, what the model saw and would have written, and what it pays."""
    if not result.chosen:
        return Markup("")
    heads = ("at", "true token", "the model sees", "its best guess", "P(true)", "−ln P")
    rows = [_term(token) for token in result.chosen[:MOST_ROWS]]
    left = len(result.chosen) - len(rows)
    return prose(quoted(heads, rows), *([caption(f"and {left} more; all of them are in Data, below.")] if left else []))


def _term(token: RowToken) -> tuple[object, ...]:
    seen = "the same" if token.fate == "kept" else token.shown
    shares = percent(token.probability or 0.0), fixed(token.loss or 0.0, 4)
    return token.position, token.token, seen, token.guess, *shares


def sum_line(result: RowResult) -> Markup:
    """Write the formula with this row's numbers."""
    lines = []
    if result.mlm_loss is not None:
        terms = [fixed(token.loss or 0.0, 3) for token in result.chosen]
        # A cut of one or two terms would save no room, since the dots take some.
        shown = " + ".join(terms if len(terms) <= MOST_TERMS + 2 else [*terms[:MOST_TERMS], "…", terms[-1]])
        lines.append(_formula("MLM", f"({shown}) / {len(terms)}", result.mlm_loss))
    right = result.pair[CLASSES.index(result.truth)]
    lines.append(_formula("NSP", f"−ln P({result.truth}) = −ln {right:.4g}", result.nsp_loss))
    parts = " + ".join(fixed(loss, 4) for loss in (result.mlm_loss, result.nsp_loss) if loss is not None)
    whole = Markup("<p><i>L</i> = <i>L</i><sub>MLM</sub> + <i>L</i><sub>NSP</sub> = {} = <strong>{}</strong> nats</p>")
    return Markup('{}<div class="row-sum">{}{}</div>').format(
        step(6, "Both losses are added"), Markup("").join(lines), whole.format(parts, fixed(result.total, 4))
    )


def _formula(name: str, terms: str, value: float) -> Markup:
    return Markup("<p><i>L</i><sub>{}</sub> = {} = <b>{}</b></p>").format(name, terms, fixed(value, 4))


def row_table(result: RowResult) -> Table:
    """position, token, segment, shown, fate, probability, loss (nats).

    The last two are of what is asked at a position: of the true token where one was chosen, and at [CLS] of the pair's class,
    which stands there as the fate.
    """
    rows: list[tuple[str | int | float | None, ...]] = [
        (token.position, token.token, token.segment, token.shown, token.fate, token.probability, token.loss)
        for token in result.tokens
    ]
    # The first token is [CLS], which the pair's head reads.
    asked = (result.truth.replace(" ", "_"), exp(-result.nsp_loss), result.nsp_loss)
    rows[0] = (*rows[0][:4], *asked)
    return Table.of(("position", "token", "segment", "shown", "fate", "probability", "loss"), rows)
