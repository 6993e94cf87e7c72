"""Makes what learns: the WordPiece vocabulary, as BERT's was from its own text, and the model, new or a copy of a BERT; for
ELECTRA two models that share their embeddings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenizers import BertWordPieceTokenizer
from torch import nn
from transformers import (
    BertConfig,
    BertForPreTraining,
    BertLMHeadModel,
    BertTokenizer,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from explorer.errors import BadInputError
from explorer.models.loaded_model import LOADING, LoadedModel
from explorer.objectives.electra import ElectraPair
from explorer.scratch.spec import OBJECTIVES, ScratchSpec, no_bert
from explorer.tuning.seeded import Seeded

LONGEST = 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LEAST_FREQUENT = 2
"""How often a piece that is merged must occur at least."""


def learn_vocabulary(texts: Iterable[str], size: int) -> PreTrainedTokenizerBase:
    """Learn at most `size` WordPieces, in lower case (Devlin et al. 2019, section 3; BERT-base-uncased).

    A short text gives fewer. One text always gives one vocabulary, which a resumed run relies on. Raises BadInputError
    if the text's letters alone are more than `size`.
    """
    texts = list(texts)
    learner = BertWordPieceTokenizer(lowercase=True)
    # The library numbers a letter within words when it first meets it, in an order that differs from process to process, and
    # breaks ties between merges by these numbers. Named beforehand, they have one order.
    within = _letters_within(learner, texts)
    learner.train_from_iterator(
        texts,
        vocab_size=size,
        min_frequency=LEAST_FREQUENT,
        special_tokens=[*SPECIAL, *within],
        limit_alphabet=size,
        show_progress=False,
    )
    if learner.get_vocab_size() > size:
        raise BadInputError(
            f"This text is written with more than {size:,} different letters and signs. Take a larger vocabulary."
        )
    tokenizer: PreTrainedTokenizerBase = BertTokenizer(
        vocab=learner.get_vocab(), do_lower_case=True, model_max_length=LONGEST
    )
    return tokenizer


def _letters_within(learner: BertWordPieceTokenizer, texts: list[str]) -> list[str]:
    """Return every letter that stands inside a word, as a piece: ##a, ##b and so on."""
    found: set[str] = set()
    for text in texts:
        for word, _ in learner.pre_tokenizer.pre_tokenize_str(learner.normalizer.normalize_str(text)):
            found.update(word[1:])
    return [f"##{letter}" for letter in sorted(found)]


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
