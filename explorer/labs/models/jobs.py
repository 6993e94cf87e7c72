"""The family's jobs: sizes counted, figures read from what is kept beside the bundled models."""

from __future__ import annotations

import json
from dataclasses import replace

from explorer.charts.words import counted
from explorer.labs.models.schema import (
    BUNDLED,
    CountedPart,
    CountParams,
    CountResult,
    FamilyParams,
    FamilyResult,
    ModelScores,
    ModelSizes,
    ScoresParams,
    ScoresResult,
    Width,
)
from explorer.models.families.family import Part
from explorer.models.published import PUBLISHED
from explorer.models.records import read_scores
from explorer.models.sizes import Outline, grouped, outline_of
from explorer.models.tokenizer_store import kind_of
from explorer.settings import BUNDLED_MODELS

EMBEDDING_SIZES = (32, 64, 128, 256, 384, 512, 768, 1024, 2048, 4096)


def family(params: FamilyParams) -> FamilyResult:
    """Count each model's parameters, on a model without weights."""
    names = [*BUNDLED] if "bundled" in params.which else []
    names += [entry.model_id for entry in PUBLISHED] if "published" in params.which else []
    return FamilyResult(tuple(_sizes(outline_of(name)) for name in names))


def held_out(params: ScoresParams) -> ScoresResult:
    """Read what the cards of bundled models quote, as it was measured."""
    found = ((name, read_scores(BUNDLED_MODELS / name)) for name in params.models)
    return ScoresResult(
        tuple(ModelScores(name, kept.date, kept.command, kept.text, kept.measures) for name, kept in found if kept)
    )


def count_parameters(params: CountParams) -> CountResult:
    """Count the parameters of a model in other sizes. Raises BadInputError if its family does not have what is changed."""
    base, changed = outline_of(params.base), resized(params)
    again = parts_again(changed, params.shared)
    parts = tuple(CountedPart(part.name, part.formula, part.count) for part in (*(changed.parts or ()), *again))
    after = _sizes(changed)
    if again:
        after = replace(after, in_layers=after.in_layers + sum(part.count for part in again), shared=False)
    return CountResult(_sizes(base), after, parts, _sweep(after), _as_in_table_3(after), base.factorises)


def resized(params: CountParams) -> Outline:
    """Return the model in the sizes that are asked for. Raises BadInputError as count_parameters does."""
    return outline_of(params.base).resized(
        vocab_size=params.vocabulary or None,  # 0 keeps the model's own, here and below
        hidden_size=params.hidden_size or None,
        layers=params.layers or None,
        inner=params.intermediate_size or None,
        embedding_size=params.embedding_size or None,
        shared=None if params.shared == "own" else params.shared not in ("none", "no"),
    )


def parts_again(outline: Outline, shared: str) -> tuple[Part, ...]:
    """Return the parts that every further depth adds if all layers share one of their two blocks (ALBERT's, with its
    norm).

    The outline is of one layer for all depths: transformers has no ALBERT that shares a part of it.
    """
    wide, inner, depths = outline.config.hidden_size, outline.inner, outline.config.num_hidden_layers - 1
    own = {
        "attention": ("feed-forward net", f"{depths}·(2·{wide}·{inner} + {inner} + 3·{wide})"),
        "feed-forward": ("attention", f"{depths}·(4·({wide}² + {wide}) + 2·{wide})"),
    }
    if shared not in own or not depths:
        return ()
    name, formula = own[shared]
    return (Part(f"the {name} of {counted(depths, 'further layer')}", formula, ()),)


def _sizes(outline: Outline) -> ModelSizes:
    config, groups, folder = outline.config, grouped(outline), BUNDLED_MODELS / outline.model_id
    here = outline.model_id in BUNDLED
    files = folder.glob("*.safetensors") if here else ()
    description = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")) if here else None
    return ModelSizes(
        outline.model_id,
        outline.architecture.family,
        here,
        config.vocab_size,
        config.num_hidden_layers,
        config.hidden_size,
        outline.inner,
        config.num_attention_heads,
        outline.embedding_size,
        outline.shares,
        groups.words,
        groups.rest,
        groups.layers,
        groups.heads,
        kind_of(description) if description else "",
        sum(file.stat().st_size for file in files) / 1e6 if here else None,
    )


def _sweep(sizes: ModelSizes) -> tuple[Width, ...]:
    """Count an ALBERT with this vocabulary, width and depth at several embedding sizes up to its width."""
    albert = outline_of("albert/albert-base-v2")
    widths = sorted({*(size for size in EMBEDDING_SIZES if size < sizes.hidden_size), sizes.hidden_size})
    # On the meta device: no numbers.
    one = albert.resized(hidden_size=sizes.hidden_size, inner=sizes.intermediate_size, layers=1).empty()
    layer = {name: tensor.numel() for name, tensor in one.named_parameters() if "albert_layers" in name}
    attention = sum(count for name, count in layer.items() if ".attention." in name)
    again = sizes.layers - 1

    def encoder(width: int) -> Width:
        changed = albert.resized(
            vocab_size=sizes.vocabulary,
            hidden_size=sizes.hidden_size,
            layers=sizes.layers,
            inner=sizes.intermediate_size,
            embedding_size=width,
            shared=True,
        )
        parts = changed.parts or ()
        # As ALBERT's Table 3 counts.
        shared = sum(part.count for part in parts if not part.name.startswith(("MLM head", "SOP head")))
        rest = sum(layer.values()) - attention
        return Width(
            width, shared, shared + again * attention, shared + again * rest, shared + again * (attention + rest)
        )

    return tuple(encoder(width) for width in widths)


def _as_in_table_3(sizes: ModelSizes) -> bool:
    return (sizes.vocabulary, sizes.hidden_size, sizes.layers, sizes.intermediate_size) == (30000, 768, 12, 3072)
