"""Parameters counted from sizes: of whole models and of methods on torch's meta device, and the formulas of LoRA's section 5.1.

No weight is allocated and no hub is asked. The number of heads does not change a count, so it is one throughout.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import transformers

from explorer.models.families import by_family
from explorer.models.published import BASE, DISENTANGLED, LARGE
from explorer.models.sizes import Outline
from explorer.tuning.counting import HEAD, count
from explorer.tuning.spec import RunSpec

ROBERTA = {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1}
DEBERTA: dict[str, float] = {
    "hidden_size": 1536,
    "num_hidden_layers": 48,
    "intermediate_size": 6144,
    "vocab_size": 128100,
    "position_buckets": 256,
    "conv_kernel_size": 3,
}
DISTILBERT = {"dim": 768, "n_layers": 6, "hidden_dim": 3072, "vocab_size": 30522}
ALBERT: dict[str, float] = {"vocab_size": 30000, "embedding_size": 128}
GPT2: dict[str, float] = {"vocab_size": 50257, "n_positions": 1024}
_FIXED: dict[str, dict[str, Any]] = {
    "DeBERTa-v2/v3": {**DISENTANGLED, "norm_rel_ebd": "layer_norm", "share_att_key": True, "conv_act": "gelu"},
    "ALBERT": {"num_hidden_groups": 1},
}
"""What a family's config has besides its sizes."""


def sizes(base: dict[str, Any], **more: float) -> dict[str, float]:
    """Sizes of a config, without the number of heads."""
    return {name: value for name, value in {**base, **more}.items() if name != "num_attention_heads"}


BERT_BASE, BERT_LARGE = sizes(BASE, vocab_size=30522), sizes(LARGE, vocab_size=30522)
ROBERTA_BASE, ROBERTA_LARGE = sizes(BASE, **ROBERTA), sizes(LARGE, **ROBERTA)
GPT2_MEDIUM, GPT2_LARGE = {**GPT2, "n_embd": 1024, "n_layer": 24}, {**GPT2, "n_embd": 1280, "n_layer": 36}
GPT3 = {"d": 12288, "layers": 96}


def with_heads(family: str) -> Callable[..., int]:
    """Counts a model with its pretraining heads, from its sizes; a tied tensor counts once."""
    return lambda **values: sum(number for _, number in _parameters(family, tuple(values.items())))


def encoder(family: str) -> Callable[..., int]:
    """The same without the heads, and with the pooler where there is one."""
    body = by_family(family).layers.body
    return lambda **values: sum(
        number for name, number in _parameters(family, tuple(values.items())) if name.startswith(f"{body}.")
    )


def layers_alone(family: str) -> Callable[..., int]:
    """Some layers of a model: `last` of them."""
    layers = by_family(family).layers
    start = f"{layers.body}.{layers.path.split('*')[0]}"

    def counted(last: int, **values: float) -> int:
        found = _parameters(family, tuple(values.items()))
        numbers = {int(name.removeprefix(start).split(".")[0]) for name, _ in found if name.startswith(start)}
        kept = [f"{start}{number}." for number in sorted(numbers)[-last:]]
        return sum(number for name, number in found if name.startswith(tuple(kept)))

    return counted


def albert(apart: str = "", pooler: bool = True) -> Callable[..., int]:
    """An ALBERT without its heads, of which each layer has an "attention", an "ffn" or "all" of its own.

    Embeddings as wide as the layers need no map: transformers has one there, the authors' code has none.
    """

    def counted(num_hidden_layers: int, **values: float) -> int:
        found = _parameters("ALBERT", (*values.items(), ("num_hidden_layers", num_hidden_layers)))
        inside = [(name, number) for name, number in found if ".albert_layers." in name]
        attention = sum(number for name, number in inside if ".attention." in name)
        own = {"": 0, "attention": attention, "ffn": sum(number for _, number in inside) - attention}
        repeated = own[apart] if apart != "all" else own["attention"] + own["ffn"]
        square = values["embedding_size"] == values["hidden_size"]
        left_out = ("albert.encoder.embedding_hidden_mapping_in",) * square + ("albert.pooler",) * (not pooler)
        kept = [number for name, number in found if name.startswith("albert.") and not name.startswith(left_out)]
        return sum(kept) + (num_hidden_layers - 1) * repeated

    return counted


def trained(family: str, method: str, *targets: str, head: bool = False) -> Callable[..., int]:
    """What a method of this app trains on a model, by peft and by our own adapters; `head`: the classifier alone."""

    def counted(rank: int = 8, bottleneck: int = 32, outputs: int = 2, **values: float) -> int:
        options: dict[str, Any] = {"rank": rank, "bottleneck": bottleneck, **({"targets": targets} if targets else {})}
        spec = RunSpec(model=family, method=method, **options)
        groups = dict(_trained(family, tuple(values.items()), outputs, spec))
        return groups[HEAD] if head else sum(number for group, number in groups.items() if group != HEAD)

    return counted


def _outline(family: str, values: tuple[tuple[str, float], ...]) -> Outline:
    architecture = by_family(family)
    heads = {"n_head": 1} if family == "GPT-2" else {"num_attention_heads": 1}
    kind = getattr(transformers, architecture.model_class).config_class
    return Outline(family, architecture, kind.from_dict({**_FIXED.get(family, {}), **heads, **dict(values)}))


@lru_cache(maxsize=256)
def _parameters(family: str, values: tuple[tuple[str, float], ...]) -> tuple[tuple[str, int], ...]:
    model = _outline(family, values).empty()
    return tuple((name, parameter.numel()) for name, parameter in model.named_parameters())


@lru_cache(maxsize=256)
def _trained(
    family: str, values: tuple[tuple[str, float], ...], outputs: int, spec: RunSpec
) -> tuple[tuple[str, int], ...]:
    outline = _outline(family, values)
    return tuple(count(outline.config, outline.architecture.layers, outputs, spec).groups.items())


def low_rank(matrices: int, r: int, d: int, k: int, layers: int) -> int:
    """LoRA: B (d, r) and A (r, k) for each of a layer's adapted matrices, so r (d + k) a matrix."""
    return matrices * layers * r * (d + k)


def adapters(a_layer: int, r: int, d: int, layers: int, norms: int = 0) -> int:
    """Bottleneck adapters of width r, so many a layer: L (2 d r + r + d), and 2 d for each layer norm trained beside them."""
    return layers * (a_layer * (2 * d * r + r + d) + norms * 2 * d)


def prefix_embedding(d: int, vectors: int) -> int:
    """Prefix-embedding: d (l_p + l_i), with l_p + l_i trained vectors before and after the text."""
    return d * vectors


def prefix_layer(d: int, vectors: int, layers: int) -> int:
    """Prefix-layer: L d (l_p + l_i)."""
    return layers * prefix_embedding(d, vectors)


def decoder_only(d: int, layers: int, vocabulary: int, positions: int) -> int:
    """GPT: 12 d² + 13 d a layer, tied embeddings of words and positions, and the last layer norm."""
    return layers * (12 * d**2 + 13 * d) + (vocabulary + positions + 2) * d


def biases(d: int, layers: int) -> int:
    """All bias vectors of the same: 11 d a layer, layer norms' among them, and d of the last norm."""
    return (11 * layers + 1) * d
