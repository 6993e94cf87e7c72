"""From BERT's recipe to RoBERTa's, a step at a time: what each was worth, quoted (Liu et al. 2019, Tables 1 to 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import SERIES, Look, Picture, Trace, axis, chart, points, rows
from explorer.charts.words import caption, prose, signed, strong
from explorer.engine.protocol import Job
from explorer.kinds import OneOf
from explorer.models.ablations import ROBERTA_TABLE_2
from explorer.params import Shown, params
from explorer.tab import Figure, Note, Tab, Why
from explorer.tables import Table

SCORES = {"mnli": "MNLI-m", "sst2": "SST-2", "squad2": "SQuAD 2.0"}
"""The tasks whose scores most of the tables have: accuracy, accuracy, F1."""

STEPS = {1: "masking", 2: "input format and NSP", 3: "batch size", 4: "text and steps"}
"""What each of the paper's tables changes."""

SIZES = {1: "base", 2: "base", 3: "base", 4: "large"}


@params
class RecipeParams:
    """Which task the steps are scored on."""

    score: Annotated[str, OneOf(tuple(SCORES), tuple(SCORES.values())), Shown("Score on")] = "mnli"


@dataclass(frozen=True)
class Setting:
    """A row of a table; scores in points, perplexity on held-out text. is_start: the table's other rows are compared with it."""

    table: int
    setting: str
    squad2: float | None
    mnli: float
    sst2: float
    perplexity: float | None = None
    is_start: bool = False

    def score(self, name: str) -> float | None:
        """Return the score in points; None if the table does not have it."""
        value: float | None = getattr(self, name)
        return value


@dataclass(frozen=True)
class RecipeResult:
    """The settings in the paper's order, and the task that they are compared on."""

    score: str
    settings: tuple[Setting, ...]

    def of(self, table: int) -> list[Setting]:
        """Return the rows of one table."""
        return [row for row in self.settings if row.table == table]

    def gain(self, row: Setting) -> float | None:
        """Return the points beyond the row that its table starts from; None if one of the two has no such score."""
        start = next(one for one in self.of(row.table) if one.is_start)
        here, there = row.score(self.score), start.score(self.score)
        return None if here is None or there is None else round(here - there, 1)


PUBLISHED = (
    Setting(1, "BERT-base, published", 76.3, 84.3, 92.8),
    Setting(1, "static: ten copies", 78.3, 84.3, 92.5, is_start=True),
    Setting(1, "dynamic: drawn anew", 78.7, 84.0, 92.9),
    *(
        Setting(2, row.title, row.squad2, row.mnli, row.sst2, is_start=number == 0)
        for number, row in enumerate(ROBERTA_TABLE_2)
    ),
    Setting(3, "256, 1M steps, 1e-4", None, 84.7, 92.7, 3.99, is_start=True),
    Setting(3, "2K, 125K steps, 7e-4", None, 85.2, 92.9, 3.68),
    Setting(3, "8K, 31K steps, 1e-3", None, 84.6, 92.8, 3.77),
    Setting(4, "BERT-large: 13 GB", 81.8, 86.6, 93.7, is_start=True),
    Setting(4, "16 GB, 100K steps", 87.3, 89.0, 95.3),
    Setting(4, "160 GB, 100K steps", 87.7, 89.3, 95.6),
    Setting(4, "160 GB, 300K steps", 88.7, 90.0, 96.1),
    Setting(4, "160 GB, 500K steps", 89.4, 90.2, 96.4),
)


def recipe_steps(params: RecipeParams) -> RecipeResult:
    """Quote the steps of RoBERTa's recipe with the scores that its paper gives for each."""
    return RecipeResult(params.score, PUBLISHED)


def recipe_table(result: RecipeResult) -> Table:
    """table, step, size, setting, squad2, mnli, sst2, perplexity, gain (on the chosen score, within its table)."""
    return Table.each(
        result.settings,
        table=lambda row: row.table,
        step=lambda row: STEPS[row.table],
        size=lambda row: SIZES[row.table],
        setting=lambda row: row.setting,
        squad2=lambda row: row.squad2,
        mnli=lambda row: row.mnli,
        sst2=lambda row: row.sst2,
        perplexity=lambda row: row.perplexity,
        gain=result.gain,
    )


def recipe_sentence(result: RecipeResult) -> Markup:
    """Say which step gains most over where its table starts."""
    gains = {step: best[1] for table, step in STEPS.items() if (best := _best(result, table))}
    most = max(gains, key=lambda step: gains[step])
    gain = strong(f"{signed(gains[most], 1)} points")
    return prose(f"On {SCORES[result.score]} the step that gains most is ", strong(most), ": ", gain, ".")


def recipe_notes(result: RecipeResult) -> Markup:
    """Say what the best setting of each table gains over where the table starts."""
    told = []
    for table, step in STEPS.items():
        best = _best(result, table)
        told.append(f"{step} {signed(best[1], 1)} ({best[0].setting})" if best else f"{step} (not in Table {table})")
    return caption(f"The best of each step, in points: {', '.join(told)}.")


def _best(result: RecipeResult, table: int) -> tuple[Setting, float] | None:
    """Return the setting that gains most, the start itself and what stands before it left out."""
    tried = [row for row in result.of(table) if not row.is_start and "published" not in row.setting]
    gains = [(row, gain) for row in tried if (gain := result.gain(row)) is not None]
    return max(gains, key=lambda pair: pair[1]) if gains else None


def recipe_figure(result: RecipeResult) -> Picture:
    """Draw a point a setting, from the top as the recipe goes; each table in a colour, the row it starts from hollow."""
    names = [row.setting for row in result.settings]
    traces: list[Trace] = []
    for table, colour in zip(STEPS, SERIES, strict=False):
        numbered = [(place, row, row.score(result.score)) for place, row in enumerate(result.settings)]
        shown = [(place, row, value) for place, row, value in numbered if row.table == table and value is not None]
        if not shown:
            continue
        look: Look = {"symbol": ["circle-open" if row.is_start else "circle" for _, row, _ in shown]}
        traces.append(
            points(
                [value for _, _, value in shown],
                [place for place, _, _ in shown],
                colour,
                f"{table} {STEPS[table]} ({SIZES[table]})",
                size=12,
                marker={**look, "line": {"width": 3}},
                mode="markers+lines+text",
                texts=[_written(result, row, value) for _, row, value in shown],
                textposition="middle right" if table < max(STEPS) else "middle left",  # the last stand at the edge
                textfont={"size": 14, "color": "@text"},
                hover="%{text}",
            )
        )
    across = axis(f"{SCORES[result.score]} (points)", span=_span(result))
    page: Look = {"height": 540, "low": 430, "phone": 620, "legend": True, "legend_size": 13}
    return chart(recipe_sentence(result), traces, across, rows(names, size=14), **page)


def _written(result: RecipeResult, row: Setting, value: float) -> str:
    gain = result.gain(row)
    return f" {value:.1f} " if row.is_start or gain is None else f" {value:.1f} ({signed(gain, 1)}) "


def _span(result: RecipeResult) -> tuple[float, float]:
    """Return the scores' range, with room for the points."""
    values = [value for row in result.settings if (value := row.score(result.score)) is not None]
    wide = max(values) - min(values)
    return min(values) - 0.06 * wide, max(values) + 0.08 * wide


WHY = r"""
RoBERTa is BERT's architecture, unchanged, trained by another recipe: BERT was **undertrained**. The authors change one thing at
a time (base size, BookCorpus and Wikipedia, 16 GB):

1. **Masks drawn anew** each time a sequence is read. BERT draws them beforehand: ten copies of the corpus, each masked once and
   seen four times in forty epochs. That is *static* masking, though lecture notes sometimes describe it as the dynamic one.
2. **No NSP**, and inputs of up to 512 tokens of whole sentences that may run over the end of a document (*full sentences*).
   BERT's own ablation found NSP useful; [Pairs](pairs) shows both tables, and why they disagree.
3. **Larger batches** with a higher peak rate (1e-4, 7e-4 and 1e-3 in Table 3), for the same number of sequences: 1M steps of 256
   see as many as 31K steps of 8K.
4. **More text for longer**, at large size: 160 GB for 13 GB, and up to 500K steps of 8K sequences. These are half of BERT's 1M
   steps, but each reads 32 times as many sequences as BERT's of 256. The first row below BERT-large has all that comes before
   at once, on about BERT's text; the rows after it add text, then steps.

**Why a larger batch, a higher rate, a warm-up:**

* The mean gradient of a batch of $B$ rows misses the true one by about $1/\sqrt B$: a larger batch points more surely.
* A surer step may be a longer one, so the peak rate rises with the batch, from 1e-4 to 1e-3.
* At first Adam's second moment rests on a few gradients and the weights are random: the rate starts at 0 and rises in a warm-up.
* The same number of sequences takes fewer, larger steps, and a large batch is easily shared among many machines.

**Text or steps?** From 16 to 160 GB MNLI gains 0.3 and SQuAD 2.0 0.4; from 100K to 500K steps on 160 GB they gain 0.9 and 1.7
(Table 4). Both help, and the steps helped more. RoBERTa doesn't mend that `[MASK]` never occurs later; ELECTRA does.

BERT trains nine tenths of its steps on 128 tokens and the rest on 512, RoBERTa on 512 throughout: short first, then long, is
BERT's schedule. And *robust* means this recipe, which holds from task to task, and not text with typing errors. (Liu et al. 2019,
sections 2 to 5; Tables 1 and 2 give medians over five seeds)
"""

RECIPE = Action(
    "recipe_steps",
    Job("explorer.labs.models.recipe:recipe_steps", on="nothing", light=True),
    RecipeParams,
    recipe_table,
)

TAB = Tab(
    "recipe",
    "RoBERTa's recipe",
    RECIPE,
    asks=(
        "score",
        Note(
            "BERT was <b>undertrained</b>: the same model gains from more text and more steps. Quoted from Liu et al. 2019, "
            "Tables 1 to 4, in points. A hollow point is what its table starts from; batch sizes come with the peak rate, "
            "and all of Table 4 but BERT-large has batches of 8K."
        ),
    ),
    figure=Figure("recipe", "bert-to-roberta", recipe_sentence, recipe_figure, recipe_notes),
    why=Why("each step", WHY),
    width=250,
)
