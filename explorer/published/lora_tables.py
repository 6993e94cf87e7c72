"""LoRA's tables as a page shows them beside what can be tried there: quoted, with what their columns and names mean."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts.words import caption, prose, quoted
from explorer.published import lora

_PAPER = "Hu et al. 2021"

METRICS = (
    "MNLI: accuracy, matched and mismatched together · CoLA: Matthews correlation · STS-B: Pearson correlation · all others: "
    "accuracy. Each times 100."
)
METHODS = (
    ("FT", "full fine-tuning: every weight is trained"),
    ("BitFit", "bias vectors alone (Ben Zaken et al.)"),
    ("AdptH", "Houlsby's adapters: two a layer, after the attention and after the feed-forward block"),
    ("AdptP", "Pfeiffer's adapters: one a layer, after the feed-forward block"),
    ("AdptD", "AdapterDrop (Rücklé et al.): adapters left out of some layers"),
    ("AdapterL, AdapterH", "on GPT-2 and GPT-3: Lin's, one a layer with a layer norm, and Houlsby's"),
    ("PreEmbed, PreLayer", "trained vectors before and after the text, as embeddings or in every layer"),
    (
        "†",
        "set up as Houlsby's, restricted for a fair comparison: MRPC, RTE and STS-B start from the pretrained model and not "
        "from MNLI",
    ),
)
FORMULAS = (
    ("LoRA", "r (d + k) for each adapted matrix of d × k: r d for B, r k for A"),
    ("PreEmbed", "d (l_p + l_i), for l_p vectors before the text and l_i after it"),
    ("PreLayer", "L d (l_p + l_i): as many in each of L layers"),
    ("adapters", "2 d r + r + d for each one of width r"),
)


def _title(number: int, what: str) -> str:
    return f"{what} ({_PAPER}, Table {number})"


def latency() -> Markup:
    """Table 1: what adapters cost after training."""
    rows = [
        (
            f"{row.batch} × {row.length}, {row.adapters}",
            f"{row.lora}",
            *(f"{time} ({slower})" for time, slower in (row.adapter_l, row.adapter_h)),
        )
        for row in lora.TABLE_1
    ]
    heads = ("batch × length, adapters' numbers", "full or LoRA", "AdapterL", "AdapterH")
    title = _title(1, "GPT-2 medium, milliseconds a forward pass, mean of 100")
    return quoted(heads, rows, title) + caption(
        "Adapters stand between the layers and are waited for; LoRA's update is added to W beforehand. The shorter the batch, "
        "the more they cost."
    )


def glue(model: str = "") -> Markup:
    """Table 2, of one model or of all."""
    shown = [row for row in lora.TABLE_2 if model in ("", row.model)]
    rows = [(row.model, row.title, row.trainable, *row.scores, row.average) for row in shown]
    heads = ("model", "method", "trained", *lora.GLUE, "average")
    return quoted(heads, rows, _title(2, "GLUE's validation sets")) + caption(METRICS)


def on_gpt3() -> Markup:
    """Table 4: GPT-3 on three tasks."""
    rows = [(row.method, row.trainable, row.wikisql, row.mnli, row.samsum) for row in lora.TABLE_4]
    heads = ("method", "trained", "WikiSQL", "MNLI-m", "SAMSum R1/R2/RL")
    return quoted(heads, rows, _title(4, "GPT-3 175B on its validation sets")) + caption(
        "WikiSQL and MNLI (matched): accuracy · SAMSum: ROUGE-1, ROUGE-2 and ROUGE-L."
    )


def matrices() -> Markup:
    """Table 5: which matrices to adapt at one budget."""
    heads = ("adapted", "rank r", "WikiSQL", "MultiNLI")
    return quoted(heads, lora.TABLE_5, _title(5, "GPT-3 with 18M trained parameters, accuracy")) + caption(
        "With as many numbers, q and v at r = 4 and all four at r = 2 do best."
    )


def ranks() -> Markup:
    """Table 6: the rank."""
    heads = ("task", "weights", *(f"r={rank}" for rank in lora.RANKS))
    rows = [(task, weights, *scores) for task, weights, scores in lora.TABLE_6]
    return quoted(heads, rows, _title(6, "GPT-3 175B, validation accuracy")) + caption(
        "Of runs with other seeds the authors say that they typically differ by about 0.5 on WikiSQL and 0.1 on MultiNLI."
    )


def amplified() -> Markup:
    """Table 7: what W holds in the directions of its update."""
    rows = [
        (f"r = {row.rank}", f"{row.of_delta:.2f}", row.of_weight, row.of_random, row.delta_norm, row.factor)
        for row in lora.TABLE_7
    ]
    heads = ("‖UᵀW_qV‖ in the directions of", "ΔW_q", "W_q", "random", "‖ΔW_q‖", "factor")
    title = _title(7, f"GPT-3 175B, W_q of layer 48, ‖W_q‖ = {lora.WEIGHT_NORM}; all norms Frobenius")
    return quoted(heads, rows, title) + caption(
        "U and V are the first r singular directions of ΔW; the factor is ‖ΔW_q‖ over the first column. Section 7.3 reads it so: "
        "ΔW goes with W more than random directions do, and strengthens directions that W has but does not emphasise."
    )


def similarity() -> Markup:
    """Section 7.2 in a line."""
    return prose(
        Markup("<p>"),
        f"How alike two updates' directions are, in {_PAPER}, section 7.2: φ(A, A′, i, j) = ‖Uᵀ U′‖² / min(i, j), "
        "between 0 and 1, where U and U′ hold the first i and j right-singular vectors of A and A′ and the norm is Frobenius's.",
        Markup("</p>"),
    )


def names() -> Markup:
    """What the methods' names and the counts mean."""
    return quoted(("name", "means"), METHODS, "Methods") + quoted(
        ("trained", "how many"), FORMULAS, f"Counts as formulas ({_PAPER}, sections 4 and 5.1)"
    )
