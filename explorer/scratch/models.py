"""Builds the model that learns: new, or a copy of a BERT; for ELECTRA two models that share their embeddings."""

from __future__ import annotations

from typing import Any

from torch import nn
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertLMHeadModel,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from explorer.errors import BadInputError
from explorer.models.loaded_model import LOADING, LoadedModel
from explorer.objectives.electra import ElectraPair
from explorer.scratch.objectives import OBJECTIVES
from explorer.scratch.spec import ScratchSpec, no_bert
from explorer.tuning.seeded import Seeded

GENERATOR_SHARE = 0.5
"""The generator's width as a share of the discriminator's; a quarter to a half works best (Clark et al. 2020, section 3.2)."""


def build(spec: ScratchSpec, tokenizer: PreTrainedTokenizerBase, start: LoadedModel | None) -> nn.Module:
    """Build a model for the spec's objective. start: the BERT that it continues from, or None for random weights.

    Returns a BertForPreTraining, a BertLMHeadModel (whose attention sees the left alone, unless the objective has no
    causal mask), or an ElectraPair. Raises BadInputError for a start that is no BERT, or whose rows are shorter.
    """
    if start is not None and start.architecture.model_type != "bert":
        raise no_bert(start.model_id)
    if start is not None and start.longest < spec.length:
        raise BadInputError(f"{start.model_id} reads {start.longest} tokens at most. Take rows of that length or less.")
    sizes = _sizes(spec, tokenizer) if start is None else start.model.config.to_dict()
    with LOADING, Seeded(spec.seed):
        if spec.objective == "rtd":
            return _electra(sizes, start)
        objective = OBJECTIVES[spec.objective]
        model_class: Any = BertLMHeadModel if objective.predicts_next else BertForPreTraining
        model: PreTrainedModel = model_class(_config(BertConfig, sizes, is_decoder=objective.causal))
        _initialise(model)
    if start is not None:
        # Not strict: NSP's head is missing from a BertLMHeadModel.
        model.load_state_dict(start.model.state_dict(), strict=False)
        model.tie_weights()
    return model


def _initialise(model: PreTrainedModel) -> None:
    """Initialise the weights, and tie them."""
    # Again, whatever the library did: inside Seeded the numbers depend on the seed alone.
    model.apply(model._init_weights)
    model.tie_weights()


def _sizes(spec: ScratchSpec, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": spec.hidden,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "intermediate_size": 4 * spec.hidden,
        "max_position_embeddings": max(128, spec.length),
        "initializer_range": _spread(spec.hidden),
    }


def _spread(width: int) -> float:
    """Return the standard deviation of the initial weights: BERT's 0.02 suits a width of 768, and a narrower model
    starts to attend sooner with scores of the same size.
    """
    return float(0.02 * (768 / width) ** 0.5)


def _config(kind: type[Any], sizes: dict[str, Any], **more: Any) -> Any:
    """Return a config without dropout: a run this short sees no text often enough to need it, and every run is then
    repeatable.
    """
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    kept = {name: sizes[name] for name in (*names, "max_position_embeddings", "initializer_range")}
    config = kind(**kept, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **more)
    config._attn_implementation = "eager"  # on short rows torch's fused attention is slower on a CPU
    return config


def _electra(sizes: dict[str, Any], start: LoadedModel | None) -> ElectraPair:
    width = sizes["hidden_size"]
    head = width // sizes["num_attention_heads"]
    narrow = max(1, round(GENERATOR_SHARE * sizes["num_attention_heads"])) * head
    small = {
        **sizes,
        "hidden_size": narrow,
        "num_attention_heads": narrow // head,
        "intermediate_size": 4 * narrow,
    }
    discriminator = ElectraForPreTraining(_config(ElectraConfig, sizes, embedding_size=width))
    generator = ElectraForMaskedLM(_config(ElectraConfig, small, embedding_size=width))
    for model in (discriminator, generator):
        _initialise(model)
    if start is not None:
        # Not strict: ELECTRA has no pooler.
        encoder = {name.removeprefix("bert."): tensor for name, tensor in start.model.state_dict().items()}
        discriminator.electra.load_state_dict(encoder, strict=False)
    return ElectraPair(generator, discriminator)
