"""LoRA's counts of trained parameters again: Tables 2 to 5 and the adapter that its authors give away (Hu et al. 2021).

The methods that this app has are put on a model without weights and counted there; GPT-3, adapters of other kinds and
prefixes by the paper's formulas. Widths of adapters, lengths of prefixes and some ranks are not in the quoted tables: where the
published count is that of a whole number of them, this number is taken, and else the nearest; such rows say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from explorer.published import counts
from explorer.published.check import Check
from explorer.published.lora import BASE, LARGE, XXL

_QV = ("query", "value")
_COUNTED = "put on the model here and counted"
_PEFT = "r (d + k) a matrix, by peft on the model"
_THOUSANDTH = "It is a thousandth of the model's own size in the same table, which the formula does not give."
_WIDTH, _VECTORS, _RANK = "The width", "The number of vectors", "The rank"
"""What is inferred."""

_MODELS: dict[str, tuple[str, dict[str, float]]] = {
    BASE: ("RoBERTa", counts.ROBERTA_BASE),
    LARGE: ("RoBERTa", counts.ROBERTA_LARGE),
    XXL: ("DeBERTa-v2/v3", counts.DEBERTA),
    "GPT-2 medium": ("GPT-2", counts.GPT2_MEDIUM),
    "GPT-2 large": ("GPT-2", counts.GPT2_LARGE),
}


def _left_open(check: Check) -> Check:
    """A figure whose difference nothing explains."""
    return replace(check, unexplained=True)


def _whole(place: str, model: str, published: str, why: str = "") -> Check:
    """Full fine-tuning."""
    family, sizes = _MODELS[model]
    said = f"{model}, full fine-tuning"
    return Check("lora", place, said, published, "every tensor of the model", counts.with_heads(family), sizes, why)


def _lora(place: str, model: str, published: str, rank: int, why: str = "", inferred: str = "") -> Check:
    family, sizes = _MODELS[model]
    counted = counts.trained(family, "lora", *_QV)
    on = "the fused c_attn" if family == "GPT-2" else "query and value"
    said = f"{model}, LoRA on {on}, r = {rank}"
    return Check("lora", place, said, published, _PEFT, counted, {**sizes, "rank": rank}, why, None, inferred)


def _adapted(model: str, method: str, title: str, published: str, width: int, why: str = "") -> Check:
    """Table 2's adapters, by the app's own."""
    family, sizes = _MODELS[model]
    said = f"{model}, {title}, bottleneck {width}"
    counted = counts.trained(family, method)
    inputs = {**sizes, "bottleneck": width}
    return Check("lora", "Table 2", said, published, _COUNTED, counted, inputs, why, None, _WIDTH)


def _formula(
    place: str,
    said: str,
    published: str,
    how: str,
    compute: Callable[..., float],
    of: Mapping[str, float],
    why: str = "",
    inferred: str = "",
) -> Check:
    return Check("lora", place, said, published, how, compute, of, why, None, inferred)


_ROUNDED = "The paper counts in millions here, and prints a decimal that is not counted."

TABLE_2 = (
    _whole("Table 2", BASE, "125.0M", _ROUNDED),
    Check(
        *("lora", "Table 2", f"{BASE}, BitFit", "0.1M", "every bias vector of the body, counted"),
        *(counts.trained("RoBERTa", "bitfit"), counts.ROBERTA_BASE),
    ),
    _adapted(BASE, "pfeiffer", "AdptD", "0.9M", 48),
    Check(
        *("lora", "Table 2", f"{BASE}, AdptD, bottleneck 48 in 4 of the 12 layers", "0.3M", "L (2 d r + r + d)"),
        *(counts.adapters, {"a_layer": 1, "r": 48, "d": 768, "layers": 4}),
        "AdapterDrop leaves adapters out of layers; a bottleneck of 16 in all twelve would count as much.",
        inferred="The width, with the number of layers,",
    ),
    _lora("Table 2", BASE, "0.3M", 8),
    _lora("the authors' adapter", BASE, "294,912", 8),
    Check(
        *("lora", "the authors' adapter", "RoBERTa-base on MNLI, the classifier's numbers", "592,899"),
        *("d² + d and 3 d + 3, counted", counts.trained("RoBERTa", "lora", *_QV, head=True)),
        {**counts.ROBERTA_BASE, "outputs": 3},
    ),
    _whole("Table 2", LARGE, "355.0M", _ROUNDED),
    _lora("Table 2", LARGE, "0.8M", 8, inferred=_RANK),
    _adapted(
        LARGE, "pfeiffer", "AdptP†", "3.0M", 64, "Of the powers of two the nearest; the paper prints a whole million."
    ),
    _adapted(LARGE, "pfeiffer", "AdptP†", "0.8M", 16),
    _adapted(
        LARGE, "houlsby", "AdptH†", "6.0M", 64, "Of the powers of two the nearest; the paper prints a whole million."
    ),
    _adapted(LARGE, "houlsby", "AdptH†", "0.8M", 8),
    _whole("Table 2", XXL, "1500.0M", _ROUNDED),
    _lora("Table 2", XXL, "4.7M", 16, inferred=_RANK),
)

_MEDIUM, _LARGER = {"d": 1024, "layers": 24}, {"d": 1280, "layers": 36}
_LIN = "L (2 d r + r + d) and 2 d L for the layer norms"


def _lin(model: str, published: str, width: int, of: Mapping[str, float]) -> Check:
    inputs = {"a_layer": 1, "r": width, "norms": 1, **of}
    return _formula(
        "Table 3", f"{model}, AdapterL, r = {width}", published, _LIN, counts.adapters, inputs, inferred=_WIDTH
    )


def _prefix(model: str, published: str, vectors: int, of: Mapping[str, float]) -> Check:
    said = f"{model}, PreLayer, {vectors} vectors"
    how, why = "L d (l_p + l_i)", f"No whole number of vectors gives it; {vectors} come nearest. {_THOUSANDTH}"
    inputs = {"vectors": vectors, **of}
    return _left_open(_formula("Table 3", said, published, how, counts.prefix_layer, inputs, why, _VECTORS))


TABLE_3 = (
    _left_open(
        _whole(
            *("Table 3", "GPT-2 medium", "354.92M"),
            "The figure of GPT-2 large in the same table agrees to its last digit; what is 0.10M more here is not said.",
        )
    ),
    _lin("GPT-2 medium", "0.37M", 6, _MEDIUM),
    _lin("GPT-2 medium", "11.09M", 224, _MEDIUM),
    _left_open(
        _formula(
            *(
                "Table 3",
                "GPT-2 medium, AdapterH, r = 112",
                "11.09M",
                "2 L (2 d r + r + d) and 4 d L for the layer norms",
            ),
            *(counts.adapters, {"a_layer": 2, "r": 112, "norms": 2, **_MEDIUM}),
            "No whole width gives it, with layer norms or without; 112 is half of AdapterL's.",
            _WIDTH,
        )
    ),
    Check(
        *("lora", "Table 3", "GPT-2 medium, top 2 layers", "25.19M", "every tensor of the last two layers, counted"),
        *(counts.layers_alone("GPT-2"), {**counts.GPT2_MEDIUM, "last": 2}),
    ),
    _prefix("GPT-2 medium", "0.35M", 14, _MEDIUM),
    _left_open(_lora("Table 3", "GPT-2 medium", "0.35M", 4, _THOUSANDTH)),
    _whole("Table 3", "GPT-2 large", "774.03M"),
    _lin("GPT-2 large", "0.88M", 8, _LARGER),
    _lin("GPT-2 large", "23.00M", 248, _LARGER),
    _prefix("GPT-2 large", "0.77M", 17, _LARGER),
    _left_open(_lora("Table 3", "GPT-2 large", "0.77M", 4, _THOUSANDTH)),
)


def _gpt3(
    said: str, published: str, how: str, compute: Callable[..., float], inferred: str, why: str = "", **of: float
) -> Check:
    return _formula("Table 4", f"GPT-3, {said}", published, how, compute, {**of, **counts.GPT3}, why, inferred)


def _square(matrices: int, r: int, d: int, layers: int) -> float:
    return counts.low_rank(matrices, r, d, d, layers)


_TWO_A_LAYER, _PAIR = "2 L (2 d r + r + d)", "2 L r (d + d)"
TABLE_4 = (
    Check(
        *("lora", "Table 4", "GPT-3, full fine-tuning", "175,255.8M", "L (12 d² + 13 d) + (V + P + 2) d"),
        *(counts.decoder_only, {**counts.GPT3, "vocabulary": 50257, "positions": 2048}),
        "With an output matrix of its own, beside the embeddings, it is {instead}; 34M are still missing.",
        lambda **of: counts.decoder_only(**of) + of["vocabulary"] * of["d"],
        unexplained=True,
    ),
    Check(
        *("lora", "Table 4", "GPT-3, BitFit", "14.2M", "11 L d + d biases", counts.biases, counts.GPT3),
        *("12 L d would be {instead}; a layer has 11 d biases.", lambda d, layers: 12 * layers * d),
    ),
    Check(
        *("lora", "Table 4", "GPT-3, PreEmbed, 264 vectors", "3.2M", "d (l_p + l_i)"),
        *(counts.prefix_embedding, {"d": counts.GPT3["d"], "vectors": 264}),
        inferred=_VECTORS,
    ),
    _left_open(
        _gpt3(
            *("PreLayer, 17 vectors", "20.2M", "L d (l_p + l_i)", counts.prefix_layer, _VECTORS),
            "No whole number of vectors gives it; 17 come nearest, an inference from the count.",
            vectors=17,
        )
    ),
    _gpt3("AdapterH, r = 1", "7.1M", _TWO_A_LAYER, counts.adapters, _WIDTH, a_layer=2, r=1),
    _gpt3("AdapterH, r = 8", "40.1M", _TWO_A_LAYER, counts.adapters, _WIDTH, a_layer=2, r=8),
    _gpt3("LoRA on q and v, r = 1", "4.7M", _PAIR, _square, _RANK, matrices=2, r=1),
    _gpt3("LoRA on q and v, r = 8", "37.7M", _PAIR, _square, _RANK, matrices=2, r=8),
)

_BUDGET = "18 × 2²⁰ exactly: the same for one matrix at r = 8, two at 4 and four at 2."
TABLE_5 = tuple(
    Check(
        *("lora", "Table 5", f"GPT-3, {matrices} of a layer's matrices at r = {rank}", "18M", "matrices × L r (d + d)"),
        *(_square, {"matrices": matrices, "r": rank, **counts.GPT3}, _BUDGET),
    )
    for matrices, rank in ((1, 8), (2, 4), (4, 2))
)

CHECKS = (*TABLE_2, *TABLE_3, *TABLE_4, *TABLE_5)
