"""Samples a model that is still learning: the likeliest tokens at each blank, or how it continues a text."""

from __future__ import annotations

from typing import Any

import torch
from transformers import BertLMHeadModel, PreTrainedTokenizerBase

from explorer.objectives.electra import ElectraPair
from explorer.scratch.checkpoint_samples import Said
from explorer.text import MASK_SPELLINGS, up_to_blank

TOP = 5
WRITTEN = 12
"""Tokens that a model of the next token adds."""


@torch.no_grad()
def say(model: Any, tokenizer: PreTrainedTokenizerBase, text: str, step: int, longest: int) -> tuple[Said, ...]:
    """Return one answer for each blank of a text, cut to `longest` tokens; one answer for a text that is to be continued."""
    if isinstance(model, ElectraPair):
        model = model.generator
    model.eval()
    if isinstance(model, BertLMHeadModel):
        return (_continued(model, tokenizer, text, step, longest),)
    given = tokenizer(MASK_SPELLINGS.sub("[MASK]", text), truncation=True, max_length=longest, return_tensors="pt").to(
        model.device
    )
    output = model(**given)
    logits = (output.prediction_logits if "prediction_logits" in output else output.logits)[0]
    blanks = (given["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    return tuple(Said(step, text, number, *_top(logits[position], tokenizer)) for number, position in enumerate(blanks))


def _top(logits: torch.Tensor, tokenizer: PreTrainedTokenizerBase) -> tuple[tuple[str, ...], tuple[float, ...]]:
    chances, ids = logits.float().softmax(-1).topk(TOP)
    return tuple(tokenizer.convert_ids_to_tokens(ids.tolist())), tuple(chances.tolist())


def _continued(model: Any, tokenizer: PreTrainedTokenizerBase, text: str, step: int, longest: int) -> Said:
    """Return the likeliest next tokens after the text before the first blank, and the greedy continuation."""
    prompt, _ = up_to_blank(text)
    kept = tokenizer(prompt, truncation=True, max_length=max(3, longest - WRITTEN))["input_ids"][:-1]  # without [SEP]
    ids = torch.tensor([kept], device=model.device)
    first: tuple[tuple[str, ...], tuple[float, ...]] | None = None
    for _ in range(min(WRITTEN, model.config.max_position_embeddings - len(kept))):
        logits = model(input_ids=ids).logits[0, -1]
        first = first or _top(logits, tokenizer)
        ids = torch.cat([ids, logits.argmax().view(1, 1)], dim=1)
    assert first is not None
    return Said(step, text, 0, *first, str(tokenizer.decode(ids[0, len(kept) :])))
