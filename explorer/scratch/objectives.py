"""Lists the objectives and row formats of pretraining; nothing here imports torch, so that a page can list them.

Sources: BERT (Devlin et al. 2019), RoBERTa's four input formats (Liu et al. 2019, section 4.2), ALBERT (Lan et al.
2020), ELECTRA (Clark et al. 2020), GPT (Radford et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Objective:
    """One pretraining task. losses: the terms that are added, by the names that figures and tables give them."""

    slug: str
    title: str
    formula: str
    losses: tuple[str, ...]
    pairs: str = ""
    """The kind of pairs that it judges: next or order; empty for none."""
    masks: bool = True
    """Whether tokens are hidden."""
    causal: bool = False
    """Whether a token sees only itself and those before it."""

    @property
    def predicts_next(self) -> bool:
        """Whether each state has to predict the token after it."""
        return "next_loss" in self.losses


_ENTRIES = (
    Objective("mlm", "MLM", r"L = L_{\text{MLM}}", ("masked_loss",)),
    Objective("mlm_nsp", "MLM + NSP", r"L = L_{\text{MLM}} + L_{\text{NSP}}", ("masked_loss", "pair_loss"), "next"),
    Objective("mlm_sop", "MLM + SOP", r"L = L_{\text{MLM}} + L_{\text{SOP}}", ("masked_loss", "pair_loss"), "order"),
    Objective(
        "rtd",
        "Replaced tokens",
        r"L = L_{\text{MLM}}(\text{generator}) + 50\, L_{\text{Disc}}",
        ("masked_loss", "replaced_loss"),
    ),
    Objective(
        "causal", "Next token", r"L = -\tfrac1n \sum_t \ln p(x_t \mid x_{<t})", ("next_loss",), masks=False, causal=True
    ),
    Objective(
        "no_causal_mask",
        "Next token, no causal mask",
        r"L = -\tfrac1n \sum_t \ln p(x_t \mid x_1 \dots x_n)",
        ("next_loss",),
        masks=False,
    ),
)

OBJECTIVES = {objective.slug: objective for objective in _ENTRIES}


@dataclass(frozen=True)
class Format:
    """One way to fill a row. paired: whether there is a B."""

    slug: str
    title: str
    explanation: str
    paired: bool = False


_FORMATS = (
    Format("segment_pair", "segment pair", "two segments that fill the row together, as BERT's", paired=True),
    Format("sentence_pair", "sentence pair", "two single sentences, much shorter than the row", paired=True),
    Format("full_sentences", "full sentences", "whole sentences up to the row's length, on into the next document"),
    Format("doc_sentences", "doc sentences", "the same, but a row ends where its document does"),
)

FORMATS = {one.slug: one for one in _FORMATS}

LOSS_TITLES = {
    "masked_loss": "MLM loss",
    "pair_loss": "pair loss",
    "replaced_loss": "loss of RTD",
    "next_loss": "loss",
}
"""The name of each term in a figure."""

TRAINING = "training_"
"""Prefix of a loss's name: its mean over the training steps since the last measurement."""
