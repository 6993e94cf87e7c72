"""All published figures that are computed again here, by paper.

Here are sizes, each counted again tensor by tensor from the sizes in a model's config; what papers say of training (masks that
are drawn, passes over the data, what distillation saves); and LoRA's times, averages, norms and memory (Hu et al. 2021). What is
trained is counted in checks_of_trained.
"""

from __future__ import annotations

from collections.abc import Iterator

from explorer.models import published
from explorer.published import checks_of_trained, counts, lora
from explorer.published.check import PAPERS, Check

_TENS = "Rounded to tens it is the paper's figure."

_ELECTRA = {"num_hidden_layers": 12, "vocab_size": 30522}
_SMALL = {**_ELECTRA, "hidden_size": 256, "intermediate_size": 1024, "embedding_size": 128}
_ELECTRA_BASE = {**_ELECTRA, "hidden_size": 768, "intermediate_size": 3072, "embedding_size": 768}
_ALBERTS = (
    ("base", "12M", 768, 12, ""),
    ("large", "18M", 1024, 24, ""),
    ("xlarge", "60M", 2048, 24, _TENS),
    ("xxlarge", "235M", 4096, 12, "The paper gives no breakdown; even with both heads it is {instead}."),
)
"""Name, millions in Table 1, width, layers, and what explains a difference."""

_WITH_HEADS = "every tensor, with the pretraining heads; a tied one once"
_ALONE = "every tensor of the encoder, without the heads"


def _albert(name: str, millions: str, wide: int, layers: int, why: str) -> Check:
    inputs = {**counts.ALBERT, "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": layers}
    instead = counts.with_heads("ALBERT") if "{instead}" in why else None
    title = f"ALBERT-{name}, parameters"
    return Check("albert", "Table 1", title, millions, _ALONE, counts.albert(), inputs, why, instead)


_SHARING = {"everything": "", "attention": "ffn", "ffn": "attention", "nothing": "all"}
"""What is shared, as the quoted tables call it, and what each layer then has of its own."""

_BY_POOLER = "Without the pooler it is {instead}; the rows of shared layers agree with the pooler counted."


def _sharing(table: str, shared: str, width: int, millions: int) -> Check:
    apart = _SHARING[shared]
    inputs = {**counts.ALBERT, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    inputs["embedding_size"] = width
    called = {"ffn": "the feed-forward net", "attention": "the attention"}.get(shared, shared)
    said = f"ALBERT-base, {called} shared, E = {width}"
    why = _BY_POOLER if shared == "nothing" else ""
    instead = counts.albert(apart, pooler=False) if why else None
    return Check("albert", table, said, f"{millions}M", _ALONE, counts.albert(apart), inputs, why, instead)


_OF_SIZES = (
    Check(
        *("bert", "section 3", "BERT-base, parameters", "110M", _WITH_HEADS, counts.with_heads("BERT")),
        *(counts.BERT_BASE, "Without its heads it is {instead}.", counts.encoder("BERT")),
    ),
    Check(
        *("bert", "section 3", "BERT-large, parameters", "340M", _WITH_HEADS, counts.with_heads("BERT")),
        *(counts.BERT_LARGE, _TENS),
    ),
    Check(
        *("roberta", "text", "RoBERTa-large, parameters", "355M", _WITH_HEADS, counts.with_heads("RoBERTa")),
        counts.ROBERTA_LARGE,
    ),
    Check(
        *("roberta", "text", "RoBERTa-base, parameters", "125M", _WITH_HEADS, counts.with_heads("RoBERTa")),
        counts.ROBERTA_BASE,
    ),
    Check(
        *("distilbert", "Table 3", "DistilBERT, parameters", "66M", _ALONE, counts.encoder("DistilBERT")),
        *(counts.DISTILBERT, "With its MLM head it is {instead}.", counts.with_heads("DistilBERT")),
    ),
    *(_albert(*row) for row in _ALBERTS),
    *(_sharing("Table 3", shared, row[0], row[1]) for shared, rows in published.ALBERT_TABLE_3 for row in rows),
    *(_sharing("Table 4", shared, row[0], row[1]) for shared, rows in published.ALBERT_TABLE_4 for row in rows),
    Check(
        *("electra", "Table 1", "ELECTRA-small (discriminator), parameters", "14M", _WITH_HEADS),
        *(counts.with_heads("ELECTRA discriminator"), _SMALL),
    ),
    Check(
        *("electra", "Table 1", "ELECTRA-base (discriminator), parameters", "110M", _WITH_HEADS),
        *(counts.with_heads("ELECTRA discriminator"), _ELECTRA_BASE, _TENS),
    ),
    Check(
        *("deberta", "text", "DeBERTa-XXL (v2), parameters", "1.5B", _WITH_HEADS),
        *(counts.with_heads("DeBERTa-v2/v3"), counts.DEBERTA),
        "Without the embeddings of words it is {instead}; what the paper counts is not said.",
        lambda **sizes: counts.with_heads("DeBERTa-v2/v3")(**sizes) - sizes["vocab_size"] * sizes["hidden_size"],
        unexplained=True,
    ),
    Check(
        *("gpt2", "as released", "GPT-2 medium, parameters", "355M", _WITH_HEADS, counts.with_heads("GPT-2")),
        counts.GPT2_MEDIUM,
    ),
    Check(
        *("gpt2", "as released", "GPT-2 large, parameters", "774M", _WITH_HEADS, counts.with_heads("GPT-2")),
        counts.GPT2_LARGE,
    ),
)


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


_OF_TRAINING = (
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


_AT = "The table gives two digits of the norm 0.32; from 0.315 to 0.325 the factor is 21.9 to 21.3."
_HALF = {"bytes_each": 2}


def _slowdown(slow: float, fast: float) -> float:
    return slow / fast - 1


def _slowdowns() -> Iterator[Check]:
    """The percentages of Table 1."""
    for row in lora.TABLE_1:
        for name, (time, printed) in (("AdapterL", row.adapter_l), ("AdapterH", row.adapter_h)):
            said = f"{name}'s slowdown, batch {row.batch}, length {row.length}"
            inputs = {"slow": time, "fast": row.lora}
            yield Check("lora", "Table 1", said, printed, "milliseconds ÷ LoRA's − 1", _slowdown, inputs)


def _mean(**scores: float) -> float:
    return lora.average(scores.values())


def _averages() -> Iterator[Check]:
    """The last column of Table 2."""
    for row in lora.TABLE_2:
        inputs = dict(zip(lora.GLUE, row.scores, strict=True))
        said = f"{row.name}, average"
        why = (
            "The mean is {instead}, half-way; the table's other halves are rounded up." if row.average == "89.0" else ""
        )
        how = "mean of the eight scores"
        yield Check("lora", "Table 2", said, row.average, how, _mean, inputs, why, _mean if why else None)


def _factors() -> Iterator[Check]:
    """The amplification of Table 7."""
    for row in lora.TABLE_7:
        inputs = {"delta_norm": row.delta_norm, "of_delta": row.of_delta}
        said = f"amplification factor, r = {row.rank}"
        why = _AT if row.rank == 4 else ""
        yield Check("lora", "section 7.3", said, row.factor, "‖ΔW‖ ÷ ‖UᵀWV‖", _ratio, inputs, why)


def _ratio(delta_norm: float, of_delta: float) -> float:
    return delta_norm / of_delta


def _bytes(numbers: float, bytes_each: float) -> float:
    return numbers * bytes_each


def _update_bytes(r: int, d: int, layers: int, bytes_each: float) -> float:
    return counts.low_rank(2, r, d, d, layers) * bytes_each


_GPT3 = {"numbers": 175e9}
"""As in its name; Table 4 says 175,255.8M."""

_MEMORY = (
    Check(
        *("lora", "section 4.2", "GPT-3's checkpoint, full fine-tuning", "350 GB", "parameters × 2 bytes"),
        *(_bytes, {**_GPT3, **_HALF}, "Two bytes a number: 16-bit weights."),
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's checkpoint, LoRA with r = 4 on q and v", "35 MB"),
        *("2 L r (d + d) numbers × 2 bytes", _update_bytes, {"r": 4, **counts.GPT3, **_HALF}),
        "Counted in powers of two it is 36.0; 35 is a ten-thousandth of 350 GB.",
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's memory in training, LoRA", "350 GB", "parameters × 2 bytes"),
        *(_bytes, {**_GPT3, **_HALF}, "The frozen weights explain all of it; the update's own numbers are 0.01%."),
    ),
    Check(
        *("lora", "section 4.2", "GPT-3's memory in training, full fine-tuning", "1.2 TB"),
        *("parameters × (weight, gradient and Adam's two moments) × 2 bytes", lambda **of: 4 * _bytes(**of)),
        {**_GPT3, **_HALF},
        "Four numbers of 16 bits for each weight are more than the paper says; 1.2 TB is 6.9 bytes a weight, and how they are "
        "kept is not said.",
        unexplained=True,
    ),
)

_OF_LORA = (*_slowdowns(), *_averages(), *_factors(), *_MEMORY)


_ALL = (*_OF_SIZES, *_OF_TRAINING, *checks_of_trained.CHECKS, *_OF_LORA)

CHECKS: tuple[Check, ...] = tuple(
    sorted(_ALL, key=lambda check: (list(PAPERS).index(check.paper), check.place.startswith("Table"), check.place))
)
"""Each paper's own in the order of its tables."""
