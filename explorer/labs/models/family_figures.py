"""The family's sizes as a picture, a sentence and tables, from plain results."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, Trace, axis, bars, chart, line, picture, points, texts
from explorer.charts.words import caption, compact, label, percent, prose, strong
from explorer.labs.models.schema import CountResult, FamilyResult, family_of
from explorer.models.catalog import CATALOG
from explorer.models.families import NOTES, FamilyNote
from explorer.models.published import ALBERT_TABLE_3, ALBERT_TABLE_4
from explorer.tables import Table

GROUPS = (
    ("words", "word embeddings", "@first"),
    ("rest", "positions, segments, maps", "@fifth"),
    ("in_layers", "layers", "@third"),
    ("heads", "pooler and heads", "@fourth"),
)
"""Field of ModelSizes, what it is called, its colour."""

SHARED = (
    ("nothing", "nothing", "@second", "circle"),
    ("attention", "the attention", "@fourth", "diamond"),
    ("ffn", "the feed-forward net", "@third", "triangle-up"),
    ("everything", "everything", "@first", "square"),
)
"""What layers may share: field of Width, what it is called, its colour and its symbol."""

PAPER_MILLIONS = {
    "google-bert/bert-base-uncased": 110,
    "google-bert/bert-large-uncased": 340,
    "FacebookAI/roberta-base": 125,
    "albert/albert-base-v2": 12,
    "albert/albert-xxlarge-v2": 235,
    "distilbert/distilbert-base-uncased": 66,
    "google/electra-small-discriminator": 14,
    "google/electra-base-discriminator": 110,
}
"""Millions of parameters as papers give them: Devlin et al. 2019, section 3; Sanh et al. 2019, Table 3; Lan et al. 2020 and
Clark et al. 2020, Table 1 each; RoBERTa's by Hu et al. 2021, Table 2."""

LETTERS = (
    ("Bidirectional", "", "directions"),
    ("Encoder", "", "directions"),
    ("Representations", " from ", "context"),
    ("Transformers", "", "attention"),
)
"""Devlin et al. 2018: a word of the name, what comes between it and the next, the page that it leads to."""


def family_table(result: FamilyResult) -> Table:
    """model, family, bundled, tokenizer, its sizes (vocabulary, layers, shared, hidden_size, intermediate_size, attention_heads,
    embedding_size), its parameters by what they are for (word_embeddings, other_inputs, in_layers, pooler_and_heads),
    parameters, megabytes, and paper_millions.
    """
    return Table.each(
        result.models,
        "model family bundled",
        tokenizer="pieces",
        vocabulary="vocabulary",
        layers="layers",
        shared="shared",
        hidden_size="hidden_size",
        intermediate_size="intermediate_size",
        attention_heads="attention_heads",
        embedding_size="embedding_size",
        word_embeddings="words",
        other_inputs="rest",
        in_layers="in_layers",
        pooler_and_heads="heads",
        parameters="parameters",
        megabytes=lambda entry: None if entry.megabytes is None else round(entry.megabytes, 1),
        paper_millions=lambda entry: PAPER_MILLIONS.get(entry.model),
    )


def family_sentence(result: FamilyResult) -> Markup:
    """Say which is smallest and which largest."""
    ordered = sorted(result.models, key=lambda entry: entry.parameters)
    small, large = ordered[0], ordered[-1]
    fewest, most = strong(compact(small.parameters)), strong(compact(large.parameters))
    if large is small:
        return prose(strong(small.model), " has ", fewest, " parameters.")
    start = ("The smallest, ", strong(small.model), ", has ", fewest, " parameters, the largest, ")
    return prose(*start, strong(large.model), ", ", most, ".")


def family_notes(result: FamilyResult) -> Markup:
    """Say which model holds the largest share of its parameters in its vocabulary table, and where a paper counts
    otherwise.
    """
    wordy = max(result.models, key=lambda entry: entry.words / entry.parameters)
    table = f"{percent(wordy.words / wordy.parameters)} of {wordy.model} is its vocabulary table."
    return caption("Each is counted tensor by tensor. ", table, *_disagreeing(result))


def _disagreeing(result: FamilyResult) -> list[str]:
    """Say where the count and the paper's figure are more than a rounding apart."""
    said = []
    for entry in result.models:
        paper = 1e6 * PAPER_MILLIONS.get(entry.model, 0)
        if paper and abs(entry.parameters - paper) / paper > 0.04:  # 14M may stand for 13.5M
            layers = entry.layers if not entry.shared else 1
            said.append(
                f" {entry.model} counts {compact(entry.parameters)}, the paper says {compact(paper)} and gives no breakdown: "
                f"here {compact(entry.in_layers)} are in {'its one layer' if layers == 1 else f'{layers} layers'}, "
                f"{compact(entry.words + entry.rest)} in the embeddings, {compact(entry.heads)} in pooler and heads."
            )
    return said


def family_figure(result: FamilyResult, share: str = "count") -> Picture:
    """Draw stacked bars, a model a row: parameters by what they are for, or their shares."""
    names = [label(_short(entry.model)) for entry in result.models]
    return _stacked(result, names, family_sentence(result), 130 + 32 * len(names), share == "share")


def _stacked(result: FamilyResult, names: Sequence[str], said: str, height: int, relative: bool = False) -> Picture:
    traces = []
    for field, group, colour in GROUPS:
        counts = [getattr(entry, field) for entry in result.models]
        wholes = [entry.parameters if relative else 1e6 for entry in result.models]
        values = [count / whole for count, whole in zip(counts, wholes, strict=True)]
        hover = f"%{{y}}<br>{group}: %{{customdata:,}}"
        traces.append(bars(names, values, colour, group, customdata=counts, hover=hover))
    across = narrow = axis("share of the parameters", span=(0, 1), percent=True)
    if not relative:
        traces.append(_totals(result, names))
        most = max(entry.parameters for entry in result.models) / 1e6
        titled = axis("millions of parameters")  # with room for the numbers at the ends of the bars
        across, narrow = (titled | axis(span=(0, room * most)) for room in (1.5, 3))
    look: Look = {"legend": True, "legend_size": 13, "barmode": "stack", "bargap": 0.25, "phone": height + 60}
    down = axis(down=True, grid=False)
    return picture(said, [Panel(traces, across, down, alone=Panel((), narrow, down))], height=height, **look)


def _totals(result: FamilyResult, names: Sequence[str]) -> Trace:
    """Write the sum behind each bar, and the paper's if the model is as it was published."""
    first: dict[str, int] = {}
    for entry in result.models:
        first.setdefault(entry.model, entry.parameters)  # one model comes twice: as it is, then resized
    written = [
        f" {compact(entry.parameters)}{_on_paper(entry.model) if entry.parameters == first[entry.model] else ''}"
        for entry in result.models
    ]
    font, at = {"color": "@text", "size": 15}, "middle right"
    ends = [entry.parameters / 1e6 for entry in result.models]
    return texts(ends, names, written, textposition=at, textfont=font, cliponaxis=False)


def _on_paper(model: str) -> str:
    return f" (paper: {PAPER_MILLIONS[model]}M)" if model in PAPER_MILLIONS else ""


def _short(model: str) -> str:
    return model.split("/")[-1]


def changes_view() -> Markup:
    """Draw one card a family: what it changed, how it learns, its pieces, and which of its models are bundled."""
    return Markup('<div class="family">{}</div>').format(Markup("").join(_card(note) for note in NOTES))


def letters() -> Markup:
    """Write the name in full, a link a word."""
    parts = [
        Markup('<a href="{}"><b>{}</b>{}</a>{}').format(slug, word[0], word[1:], after or " ")
        for word, after, slug in LETTERS
    ]
    return Markup('<p class="letters">{}(Google, October 2018).</p>').format(Markup("").join(parts))


def _card(note: FamilyNote) -> Markup:
    own = [card for card in CATALOG if card.bundled and card.family in note.families]
    lines = Markup("").join(
        Markup("<li><b>{}</b>: {}</li>").format(
            card.model_id, ", ".join([*(head.value for head in card.capabilities), "learn to classify"])
        )
        for card in own
    )
    here = Markup("<ul>{}</ul>").format(lines) if own else Markup('<p class="not-here">Not bundled; on the hub.</p>')
    return Markup(
        '<section class="family-card"><h2>{}</h2><p class="paper">{}</p>{}<p>{}</p>'
        "<dl><dt>learns by</dt><dd>{}</dd><dt>pieces</dt><dd>{}</dd></dl>{}</section>"
    ).format(
        note.name, note.paper, letters() if note.name == "BERT" else "", note.changed, note.objective, note.pieces, here
    )


def count_table(result: CountResult) -> Table:
    """part, formula, count; where no formula is written down, the four groups as they were counted."""
    if result.parts:
        rows = [(part.part, part.formula, part.count) for part in result.parts]
    else:
        rows = [(said, "counted", getattr(result.after, field)) for field, said, _ in GROUPS]
    return Table.of(("part", "formula", "count"), [*rows, ("all", "", result.after.parameters)])


def count_sentence(result: CountResult) -> Markup:
    """Say how many parameters it would have, beside how many it has."""
    before, after = result.before.parameters, result.after.parameters
    if before == after:
        return prose(strong(_short(result.before.model)), " has ", strong(f"{after:,}"), " parameters. Change a size.")
    ratio = after / before
    told = f"{ratio:.2f} times" if ratio >= 0.1 else percent(ratio) + " of"
    return prose(strong(f"{after:,}"), f" parameters in these sizes: {told} those of {_short(result.before.model)}.")


def count_notes(result: CountResult) -> Markup:
    """Say how many it has, if a size was changed."""
    if result.before.parameters == result.after.parameters:
        return Markup("")
    return caption(f"{_short(result.before.model)} has {result.before.parameters:,}.")


def count_figure(result: CountResult) -> Picture:
    """Draw two stacked bars: the model as it is, and in the asked sizes."""
    pair = FamilyResult((result.before, result.after))
    return _stacked(pair, ["as it is", "in these sizes"], count_sentence(result), 210)


def sweep_figure(result: CountResult) -> Picture:
    """Draw parameters against the embeddings' width, by what the layers share; ALBERT's own tables with their scores on
    top.
    """
    widths = [row.embedding_size for row in result.sweep]
    traces: list[Trace] = []
    for field, name, colour, symbol in SHARED:
        millions, marker = [getattr(row, field) / 1e6 for row in result.sweep], {"symbol": symbol}
        traces.append(
            line(widths, millions, colour, name, size=8, marker=marker, hover=f"{name}, E = %{{x}}: %{{y:.1f}}M")
        )
    quoted_rows = dict(ALBERT_TABLE_3 + ALBERT_TABLE_4) if result.table_3 else {}
    for place, rows in enumerate(quoted_rows.values()):
        across, up, scores = ([row[part] for row in rows] for part in range(3))
        look: Look = {"symbol": "x-thin", "size": 13, "marker": {"line": {"width": 3, "color": "@text"}}}
        written = [f"{score:.1f}" for score in scores]
        look |= {"textposition": "top center", "textfont": {"size": 14, "color": "@text"}, "showlegend": place == 0}
        hover = "quoted: %{y}M, average score %{text}"
        traces.append(points(across, up, name="as published, with its score", texts=written, hover=hover, **look))
    named = [width for width in widths if width != 384]  # which has no room between its neighbours
    width = axis("width of the embeddings, E", log=True, tickvals=named)
    height = axis("millions, heads left out", zero=True)
    return chart(sweep_sentence(result), traces, width, height, height=380, legend=True, legend_size=14)


def sweep_sentence(result: CountResult) -> Markup:
    """Say what sharing each part saves at the widest embeddings."""
    saved = _saved(result)
    attention, ffn = strong(percent(saved["attention"])), strong(percent(saved["ffn"]))
    return prose("Sharing the attention saves ", attention, " of such a model, sharing the feed-forward net ", ffn, ".")


def sweep_notes(result: CountResult) -> Markup:
    """Say what sharing both saves, and what sharing costs if the sizes are the paper's."""
    parts = [f"Sharing both saves {percent(_saved(result)['everything'])}."]
    if result.table_3:
        scores = {field: {row[0]: row[2] for row in rows} for field, rows in ALBERT_TABLE_3 + ALBERT_TABLE_4}
        costs = [f"{scores['nothing'][768] - scores[field][768]:.1f}" for field in ("attention", "ffn", "everything")]
        parts.append(f" At E = 768 it cost ALBERT {costs[0]}, {costs[1]} and {costs[2]} points of its average score.")
    return caption(*parts)


def _saved(result: CountResult) -> dict[str, float]:
    """Return which share of the model is saved at the widest embeddings, by what is shared."""
    widest = result.sweep[-1]
    return {field: 1 - getattr(widest, field) / widest.nothing for field, _, _, _ in SHARED}


def offered(model: str) -> str:
    """Name a model in the list of bases: its name and its family."""
    return f"{_short(model)} · {family_of(model)}"
