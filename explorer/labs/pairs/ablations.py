"""Does NSP help? BERT's Table 5 beside RoBERTa's Table 2, and why they disagree: quoted, and the same for every model."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, axis, bars, level, picture, texts
from explorer.charts.words import prose, quoted, signed, strong
from explorer.models.published import BERT_TABLE_5, BERT_TASKS, ROBERTA_TABLE_2

ROBERTA_SCORES = {"SQuAD 1.1": "squad1", "SQuAD 2.0": "squad2", "MNLI-m": "mnli", "SST-2": "sst2", "RACE": "race"}
"""What a row of its table has, by the task."""

_TICKS, _TOLD = (-3, -2, -1, 0, 1), ("−3", "−2", "−1", "0", "+1")

ROBERTA_TASKS = ("SQuAD 1.1/2.0", "MNLI-m", "SST-2", "RACE")

ROBERTA_ROWS = [
    (row.title, f"{row.squad1}/{row.squad2}", f"{row.mnli:.1f}", f"{row.sst2:.1f}", f"{row.race:.1f}")
    for row in ROBERTA_TABLE_2
]


def compared() -> dict[str, dict[str, tuple[float, float]]]:
    """Return each paper's scores on its five tasks with NSP and without; RoBERTa's are of full sentences, as in its recipe."""
    with_nsp, without, _ = (row[1:] for row in BERT_TABLE_5)
    segments, _, full, _ = ROBERTA_TABLE_2
    return {
        "BERT": dict(zip(BERT_TASKS, zip(with_nsp, without, strict=True), strict=True)),
        "RoBERTa": {task: (getattr(segments, of), getattr(full, of)) for task, of in ROBERTA_SCORES.items()},
    }


def help_sentence() -> Markup:
    """Say on how many of its tasks each paper's model loses if NSP is left out."""
    told: list[str] = []
    for paper, tasks in compared().items():
        lost = sum(without < with_nsp for with_nsp, without in tasks.values())
        told += [
            ", " if told else "",
            f"{paper} loses on ",
            strong(f"{lost} of {len(tasks)}"),
            "" if told else " tasks",
        ]
    return prose("Without next-sentence prediction ", *told, ". They did not take away the same: see Why.")


def help_figure() -> Picture:
    """Draw a chart for each paper: bars about zero for what leaving NSP out changes, with both scores written beside them."""
    panels = []
    for paper, tasks in compared().items():
        changes = [round(without - with_nsp, 1) for with_nsp, without in tasks.values()]
        names = list(tasks)
        colours = ["@second" if change < 0 else "@first" for change in changes]
        drawn = bars(names, changes, colours, hover="%{y}: %{x:+.1f}")
        written = [f"{with_nsp} → <b>{without}</b>" for with_nsp, without in tasks.values()]
        font: Look = {"color": "@text", "size": 15}
        said = texts([1.1] * len(names), names, written, textposition="middle right", textfont=font, cliponaxis=False)
        # Room for the scores on the right.
        across = axis(
            "points lost or won without NSP", span=(-3.8, 3.4), zeroline=False, tickvals=_TICKS, ticktext=_TOLD
        )
        marks = [level(0, upright=True)]
        panels.append(
            Panel([drawn, said], across, axis(names=True, down=True), f"{paper}: with → without", marks=marks)
        )
    return picture(help_sentence(), panels, height=300, phone=620, gap=0.14, above=40)


def bert_table() -> Markup:
    """Quote the three rows that differ in the objective."""
    return quoted(("BERT-base", *BERT_TASKS), BERT_TABLE_5, "BERT: NSP helps (Devlin et al. 2019, Table 5)")


def roberta_table(title: str = "RoBERTa: it doesn't (Liu et al. 2019, Table 2)") -> Markup:
    """Quote the four input formats."""
    return quoted(("input format", *ROBERTA_TASKS), ROBERTA_ROWS, title)


def disagreement() -> Markup:
    """Say what leaving NSP out is worth in each paper, and what else each took away."""
    with_nsp, without, _ = BERT_TABLE_5
    lost = ", ".join(
        f"{task} {signed(less - more, 1)}"
        for task, more, less in zip(BERT_TASKS, with_nsp[1:], without[1:], strict=True)
    )
    segments, _, full, _ = ROBERTA_TABLE_2
    won = ", ".join(
        f"{task} {signed(getattr(full, of) - getattr(segments, of), 1)}" for task, of in ROBERTA_SCORES.items()
    )
    return Markup(
        "<p>Without NSP, in points. BERT: {}. RoBERTa, full sentences against segment pairs: {}.</p>"
        "<p><b>They do not take away the same.</b> BERT left out the loss and may have kept its input of two segments, half "
        "the time from two documents (so Liu et al. suppose, section 4.2). RoBERTa left out the pairs too: its last two rows "
        "read whole sentences in a row, up to 512 tokens. Where NSP stays, short input hurts most (sentence pair): there is "
        "no long context to learn from.</p>"
    ).format(lost, won)


ROBERTA = (
    Markup(
        "<p>RoBERTa was trained without next-sentence prediction, because its authors found that leaving it out matches or "
        "slightly improves the tasks that follow:</p>"
    )
    + roberta_table("Liu et al. 2019, Table 2: base size, BookCorpus and Wikipedia")
    + Markup("<p>BERT's own table says otherwise; both stand side by side under “Did it help?”.</p>")
)
WITHOUT_HEAD = {
    "roberta": ROBERTA,
    "albert": Markup(
        "<p>ALBERT learned order instead: whether two neighbouring segments stand as they were written or are swapped, since a "
        "pair from two texts is told by its topic alone (Lan et al. 2020, section 3.1). "
        '<button type="button" class="offer" data-tab="Order">Open Order</button></p>'
    ),
    "distilbert": Markup(
        "<p>DistilBERT was distilled from BERT on masked words alone: next-sentence prediction and the segment embeddings were "
        "left out (Sanh et al. 2019, section 3).</p>"
    ),
    "electra": Markup(
        "<p>ELECTRA learns from every token whether it was replaced, and from no pairs: its authors left next-sentence "
        "prediction out (Clark et al. 2020, appendix A).</p>"
    ),
    "deberta": Markup(
        "<p>DeBERTa was pretrained on masked words alone, as RoBERTa was; it never judged pairs (He et al. 2021, section 5).</p>"
    ),
    "gpt2": Markup(
        "<p>GPT-2 reads from the left and says the next token; no pairs of sentences were in its training. How likely it finds a "
        'second sentence after a first is told by <a href="masking">Masking, How likely?</a></p>'
    ),
}
WITHOUT_HEAD["deberta-v2"] = WITHOUT_HEAD["deberta"]
WITHOUT_HEAD[""] = Markup("<p>This checkpoint was published without a head for pairs of sentences.</p>")
"""Why a model lacks this head, by its family as its config calls it."""
