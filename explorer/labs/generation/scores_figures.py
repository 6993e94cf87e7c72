"""What the Scores tab says and draws of the corpus: the five metrics beside what LoRA's authors measured."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Panel, Picture, axis, bars, picture
from explorer.charts.words import caption, counted, fixed, prose, quoted, strong
from explorer.labs.generation.scores import Scored
from explorer.published.lora import TABLE_3, Written
from explorer.tasks.generation_metrics import METRICS

ENDS = {"BLEU": 100.0, "METEOR": 100.0, "ROUGE-L": 100.0, "CIDEr": 10.0}
"""The highest value that a metric can have; NIST has none."""

FULL, LORA = TABLE_3[0], TABLE_3[6]
WITHOUT = "without synonyms (WordNet is not on this machine) and without the paraphrase tables of Java's METEOR"
WITH = "with WordNet's synonyms and without the paraphrase tables of Java's METEOR"


def digits(metric: str) -> int:
    """Return how many decimals papers print."""
    return 2 if metric in ("NIST", "CIDEr") else 1


def shown(metric: str, value: float) -> str:
    """Write a value as papers print it."""
    return fixed(value, digits(metric))


def scores_sentence(result: Scored) -> Markup:
    """Say what the texts reach by the first metric."""
    metric, value = next(iter(result.scores.named().items()))
    texts = f"{result.hypotheses:,} {'hypothesis has' if result.hypotheses == 1 else 'hypotheses have'} "
    return prose(texts, strong(f"{metric} {shown(metric, value)}"), " against their references.")


def scores_notes(result: Scored) -> Markup:
    """State the five values, and what METEOR lacks."""
    named = result.scores.named()
    references = counted(result.references, "reference")
    said = [strong(f"{metric} {shown(metric, value)}") for metric, value in named.items()]
    hypotheses = f"{result.hypotheses:,} {'hypothesis' if result.hypotheses == 1 else 'hypotheses'}"
    return caption(
        f"{hypotheses} against {references}: ",
        *[part for one in said[:-1] for part in (one, ", ")],
        said[-1],
        f". METEOR is computed {WITH if result.scores.synonyms else WITHOUT}.",
        Markup(" ") + _small(result.hypotheses) if result.hypotheses < 20 else "",
    )


def _small(count: int) -> str:
    if count == 1:
        return "With one group every n-gram is in all of them, and CIDEr's weights are 0."
    return "So few sentences say little: papers score hundreds."


def scores_figure(result: Scored) -> Picture:
    """Draw a panel a metric, each on its own scale: these texts, and two of LoRA's rows."""
    panels = []
    for place, (metric, value) in enumerate(result.scores.named().items()):
        values = [value, FULL.values[place], LORA.values[place]]
        drawn = bars(
            ["these texts", "full, quoted", "LoRA, quoted"],
            values,
            ["@first", "@muted", "@third"],
            texts=[shown(metric, one) for one in values],
            size=14,
            hover=f"{metric} %{{x:.4g}}, %{{y}}",
        )
        across = axis(span=[0, 1.45 * max(values)], grid=False, showticklabels=False)
        panels.append(Panel([drawn], across, axis(names=True, down=True, size=14, outer=True), title=metric))
    return picture(scores_sentence(result), panels, height=190, low=170, phone=720, gap=0.02, above=34)


def lora_table(result: Scored) -> Markup:
    """Tabulate these values above the paper's rows."""
    here = [shown(metric, value) for metric, value in result.scores.named().items()]
    rows = [("these texts", "", *here), *(_row(one) for one in TABLE_3)]
    # A hyphen at which no line breaks.
    table = quoted(("written by", "trained", *(metric.replace("-", "\u2011") for metric in METRICS)), rows)
    said = (
        "Quoted from Hu et al. 2021, Table 3: the E2E challenge's 630 test meanings with 4,693 references, scored by the "
        "challenge's programs. Other texts than these, so that only the scales can be compared."
    )
    return table + caption(said)


def _row(row: Written) -> tuple[str, ...]:
    values = [shown(metric, value) for metric, value in zip(METRICS, row.values, strict=True)]
    return f"{row.model}, {row.method}", row.trainable, *values
