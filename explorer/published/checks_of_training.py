"""What papers say of training, computed again: masks that are drawn, passes over the data, what distillation saves."""

from __future__ import annotations

from explorer.published import counts
from explorer.published.check import Check

TOKENS = 200_000
"""Drawn at once, so that a share's third digit is not chance."""


def _fates(rate: float, mask_share: float, random_share: float, of: str) -> float:
    """One draw by the app's own recipe: the share of tokens that is chosen, or of the chosen ones that gets a fate."""
    import torch

    from explorer.maths.corruption import FATES, CorruptionRecipe, fates_of

    recipe = CorruptionRecipe(rate, mask_share, random_share)
    drawn = fates_of(range(TOKENS), recipe, torch.Generator().manual_seed(0))
    chosen = drawn != FATES.index("untouched")
    if of == "chosen":
        return float(chosen.double().mean())
    return float((drawn[chosen] == FATES.index(of)).double().mean())


def _fate(said: str, published: str, of: str) -> Check:
    inputs = {"rate": 0.15, "mask_share": 0.8, "random_share": 0.1}
    how = f"drawn on {TOKENS:,} tokens with this app's masks"
    return Check("bert", "section 3.1", said, published, how, lambda **recipe: _fates(of=of, **recipe), inputs)


def _exponent(low: float, high: float) -> float:
    """By which power of T the norm of the soft loss's gradient falls between two temperatures, by autograd."""
    import math

    import torch

    from explorer.maths.distillation import gradient_norms

    student, teacher = torch.tensor([1.0, 0.0, -1.0]).double(), torch.tensor([3.0, 1.0, -4.0]).double()
    first, second = gradient_norms(student, teacher, (low, high), scaled=False)
    return math.log(second / first) / math.log(high / low)


def _saved(layers: int, teacher_layers: int) -> float:
    """The share of BERT-base's encoder that DistilBERT leaves out."""
    student = counts.encoder("DistilBERT")(**{**counts.DISTILBERT, "n_layers": layers})
    return 1 - student / counts.encoder("BERT")(**{**counts.BERT_BASE, "num_hidden_layers": teacher_layers})


_MILLION = 1e6
_EQUAL = "as many sequences as 256 × 1M, ÷ the batch"


def _steps(sequences: float, batch: float) -> float:
    return sequences / batch


CHECKS = (
    _fate("tokens that are chosen", "15%", "chosen"),
    _fate("of these, replaced by [MASK]", "80%", "mask"),
    _fate("of these, replaced by a random token", "10%", "random"),
    _fate("of these, left as they are", "10%", "kept"),
    Check(
        *("roberta", "section 4.1", "how often static masking shows each mask", "4", "epochs ÷ copies"),
        *(lambda epochs, copies: epochs / copies, {"epochs": 40, "copies": 10}),
    ),
    Check(
        *("roberta", "Table 3", "steps at a batch of 2K (2,048)", "125K", _EQUAL),
        *(_steps, {"sequences": 256 * _MILLION, "batch": 2048}),
    ),
    Check(
        *("roberta", "Table 3", "steps at a batch of 8K (8,192)", "31K", _EQUAL),
        *(_steps, {"sequences": 256 * _MILLION, "batch": 8192}),
    ),
    Check(
        *("distilbert", "abstract", "smaller than BERT-base, by its own counts", "40%", "1 − 66M ÷ 110M"),
        *(lambda small, large: 1 - small / large, {"small": 66e6, "large": 110e6}),
    ),
    Check(
        *(
            "distilbert",
            "abstract",
            "smaller than BERT-base, counted tensor by tensor",
            "40%",
            "both encoders, no heads",
        ),
        *(_saved, {"layers": 6, "teacher_layers": 12}),
        "Its 66M leave out the heads, BERT's 110M do not.",
    ),
    Check(
        *("distilbert", "abstract", "faster than BERT-base, by its own times", "60%", "668 s ÷ 410 s − 1"),
        *(lambda slow, fast: slow / fast - 1, {"slow": 668, "fast": 410}),
        "Rounded to tens it is the paper's figure.",
    ),
    Check(
        *("distilbert", "abstract", "of BERT's score on GLUE", "97%", "77.0 ÷ 79.5"),
        *(lambda small, large: small / large, {"small": 77.0, "large": 79.5}),
    ),
    Check(
        *("distillation", "section 2", "power of T with which the soft gradient falls", "−2"),
        *("ln of the ratio of two gradients ÷ ln of that of T, by autograd", _exponent, {"low": 50, "high": 500}),
    ),
)
