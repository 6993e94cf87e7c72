"""Every page and every tab in the order of the menu, what each shows to a newcomer, and which of them are looked at for what."""

from __future__ import annotations

from typing import NamedTuple


class Tab(NamedTuple):
    """A tab that a newcomer sees; one inside another comes after it, and the one with which that opens is not named."""

    page: str
    name: str
    """Empty on a page without tabs."""
    shows: str
    """What stands there once it is computed: a figure, or a part of the page."""

    @property
    def shown(self) -> str:
        """The selector of what is there then."""
        return f"{self.shows} .plot[data-drawn]" if self.shows.endswith(("-figure", *OTHER_FIGURES)) else self.shows


OTHER_FIGURES = ("-bars", "-curves", "-heatmap", "-trade")

TABS = (
    Tab("", "", "#home-figure"),
    Tab("inputs", "Pieces", "#pieces-figure"),
    Tab("inputs", "One word, step by step", "#cut-steps .cut"),
    Tab("inputs", "The sum", "#sum-figure"),
    Tab("inputs", "Positions", "#positions-figure"),
    Tab("inputs", "Typos", "#typos-figure"),
    Tab("inputs", "Typos, many sentences", "#shares-figure"),
    Tab("directions", "One blank", "#directions-figure"),
    Tab("directions", "Fifty sentences", "#fifty-figure"),
    Tab("directions", "Why not the next word?", "#proof-figure"),
    Tab("directions", "Encoder, decoder, both", "#stacks svg"),
    Tab("masking", "Fill the blank", "#fill-figure"),
    Tab("masking", "Several blanks", "#several-figure"),
    Tab("masking", "One word changed", "#swap-figure"),
    Tab("masking", "How likely?", "#score-figure"),
    Tab("masking", "Thirty minimal pairs", "#minimal-pairs-figure"),
    Tab("masking", "Why 80, 10, 10", "#corrupt-figure"),
    Tab("masking", "1,000 draws", "#shares-figure"),
    Tab("masking", "Static or dynamic", "#epochs-figure"),
    Tab("masking", "Why 15%", "#rates-figure"),
    Tab("pairs", "One pair", "#pair-figure"),
    Tab("pairs", "All pairs of a text", "#all-pairs-figure"),
    Tab("pairs", "Order: SOP beside NSP", "#order-figure"),
    Tab("pairs", "Both heads", "#kinds-figure"),
    Tab("pairs", "Did it help?", "#nsp-figure"),
    Tab("pretrain", "One row", "#row-drawn .row-documents"),
    Tab("pretrain", "From nothing", "#pretrain-figure"),
    Tab("replaced", "One draw", "#replaced-figure"),
    Tab("replaced", "Replace it yourself", "#hand-figure"),
    Tab("replaced", "Many draws", "#draws-figure"),
    Tab("models", "Changes", "#family-cards"),
    Tab("models", "Side by side", "#family-figure"),
    Tab("models", "Scores", "#scores-figure"),
    Tab("models", "Training curves", "#curves-figure"),
    Tab("models", "Parameters", "#count-figure"),
    Tab("models", "RoBERTa's recipe", "#recipe-figure"),
    Tab("models", "Layer by layer", "#movement-figure"),
    Tab("agrees", "", "#agrees-figure"),
    Tab("wayup", "", "#wayup-figure"),
    Tab("attention", "One head", "#attention-figure"),
    Tab("attention", "All heads", "#grid-figure"),
    Tab("attention", "Head view, model view", "#view-frame .view-frame[data-drawn]"),
    Tab("attention", "Queries and keys", "#neuron-figure"),
    Tab("attention", "Content and position", "#terms-figure"),
    Tab("attention", "One layer", "#layer-drawn svg"),
    Tab("attention", "Switch heads off", "#switch-figure"),
    Tab("attention", "Heads of a classifier", "#run-switch-figure"),
    Tab("context", "One word, several sentences", "#context-figure"),
    Tab("context", "Logit lens", "#lens-figure"),
    Tab("context", "Carry over", "#patch-figure"),
    Tab("context", "Probes", "#probe-figure"),
    Tab("attribution", "A model's prediction", "#attribution-bars"),
    Tab("attribution", "A fine-tuned run", "#run-attribution-bars"),
    Tab("finetune", "Train", "#run-curves"),
    Tab("finetune", "Try it", "#try-bars"),
    Tab("finetune", "Compare all", "#compare-trade"),
    Tab("finetune", "Sweep", "#sweep-figure"),
    Tab("finetune", "Runs", "#runs-curves"),
    Tab("finetune", "GLUE", "#glue-tasks tbody tr"),
    Tab("finetune", "Merge and take home", "#merge-figure"),
    Tab("finetune", "Memory", "#memory-figure"),
    Tab("finetune", "Time of a batch", "#latency-figure"),
    Tab("finetune", "Metrics", "#matrix-figure"),
    Tab("finetune", "Scores", "#scatter-figure"),
    Tab("delta", "Beside W", "#whole-figure"),
    Tab("delta", "Spectrum", "#spectrum-figure"),
    Tab("delta", "Compare two runs", "#similarity-figure"),
    Tab("delta", "Amplification", "#amplification-figure"),
    Tab("delta", "All layers", "#factors-figure"),
    Tab("delta", "Intruders", "#intruders-figure"),
    Tab("delta", "Forgetting", "#forgetting-figure"),
    Tab("generation", "Continue a text", "#next-figure"),
    Tab("generation", "A meaning in words", "#slots-figure"),
    Tab("generation", "Adapt GPT-2", "#adapt-figure"),
    Tab("generation", "Scores", "#scores-figure"),
    Tab("generation", "One sentence's scores", "#parts-figure"),
    Tab("distillation", "Soft targets", "#soft-figure"),
    Tab("distillation", "Losses", "#losses-figure"),
    Tab("distillation", "Train a student", "#distill-curves"),
    Tab("distillation", "Ablation", "#ablation-figure"),
    Tab("pruning", "Prune and see", "#orders-figure"),
    Tab("pruning", "What matters", "#importance-heatmap"),
    Tab("pruning", "Take out", "#left-figure"),
    Tab("pruning", "Step by step", "#steps-figure"),
    Tab("pruning", "Fewer bits", "#quantise-figure"),
)

PAGES = tuple(dict.fromkeys(tab.page for tab in TABS))

OF_RUNS = ("attention", "attribution", "finetune", "generation", "delta", "distillation", "pruning", "pretrain")
"""The pages that look at runs."""

TYPED_ON = ("attention", "finetune", "replaced", "pretrain", "generation", "distillation", "directions")
"""The pages on which something is typed into every field."""

UNFOLDED = ("finetune", "delta")
"""The pages whose folds are opened on every screen."""

STREAMED = {
    ("finetune", "Train"),
    ("delta", "Spectrum"),
    ("distillation", "Train a student"),
    ("attribution", "A model's prediction"),
    ("pruning", "What matters"),
}
"""Where a figure comes by a stream, and its table with it."""

RUNS_BESIDE = {
    ("finetune", "Compare all"): (10, 5),
    ("finetune", "Sweep"): (12, 5),
    ("generation", "Adapt GPT-2"): (3, 7),
    ("distillation", "Ablation"): (5, 5),
}
"""Where bundled runs stand beside each other: how many rows their table has, and how many digits a number of it; a score is a
count over some hundred examples.
"""

IN_VIEW = {
    ("", ""),
    ("wayup", ""),
    *((tab.page, tab.name) for tab in TABS if tab.page == "pruning" and tab.name != "Fewer bits"),
    ("delta", "Beside W"),
    ("distillation", "Ablation"),
    ("attention", "Queries and keys"),
    ("context", "Logit lens"),
    ("context", "Carry over"),
    ("pairs", "All pairs of a text"),
}
"""Where a projector shows the figure with what is asked."""

DRAWN = {
    ("masking", "Why 80, 10, 10"): "#corrupt-chips",
    ("pretrain", "One row"): "#row-drawn",
    ("replaced", "One draw"): "#replaced-rows",
    ("models", "Changes"): "#family-cards",
}
"""What is the answer where it is neither a sentence nor a figure that comes first."""

WORKED = {
    ("inputs", "Typos, many sentences"): "typos_over_shares",
    ("context", "Probes"): "probe_layers",
    ("attribution", "A model's prediction"): "attribute",
    ("generation", "A meaning in words"): "generate",
    ("pruning", "Prune and see"): "compare_orders",
    ("pruning", "What matters"): "importance",
    ("pruning", "Take out"): "prune",
    ("pruning", "Step by step"): "compare_steps",
    ("pruning", "Fewer bits"): "quantise",
}
"""Where what takes minutes was computed beforehand, by which action."""

WAITING = {*(tab for tab in WORKED if tab[0] == "pruning"), ("finetune", "Merge and take home")}
"""Where a run of one's own waits for a button, under the worked example; ΔW's tabs are in test_unasked."""


def tabs_of(page: str) -> tuple[Tab, ...]:
    return tuple(tab for tab in TABS if tab.page == page)
