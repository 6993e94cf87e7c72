"""One blank in two sentences that differ in one word."""

from __future__ import annotations

import re

from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.masking.swap.schema import SwapParams, SwappedToken, SwapResult
from explorer.models.bundle import Bundle
from explorer.models.encoding import encode, with_own_mask
from explorer.models.families import Capability


def swap_word(bundle: Bundle, params: SwapParams) -> SwapResult:
    """A blank's distribution before and after another word of the sentence is changed.

    Raises BadInputError for a text without the word, or not of one blank.
    """
    word, other = params.word.strip(), params.other.strip()
    changed, times = re.subn(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _: other, params.text)
    if not times:
        raise BadInputError(f"The text has no “{word[:60]}” as a word of its own.")
    before, after = (_probabilities(bundle, text) for text in (params.text, changed))
    best = {token for p in (before, after) for token in p.topk(min(params.top_k, len(p))).indices.tolist()}
    order = sorted(best, key=lambda token: -float(before[token] + after[token]))
    tokens = (SwappedToken(str(bundle.tokenizer.decode([i])), float(before[i]), float(after[i])) for i in order)
    return SwapResult(bundle.model_id, word, other, tuple(tokens), float((before - after).abs().sum() / 2))


def _probabilities(bundle: Bundle, text: str) -> Tensor:
    """p over the vocabulary at the text's one blank, (vocabulary,), float64, on the CPU."""
    encoded = encode(bundle, with_own_mask(bundle.tokenizer, text))
    blanks = (encoded.input_ids == bundle.tokenizer.mask_token_id).nonzero().flatten().tolist()
    if len(blanks) != 1:
        raise BadInputError(
            f"Put one {bundle.tokenizer.mask_token} where a word is missing; this text has {len(blanks)}."
        )
    output = bundle.model(**{name: tensor.to(bundle.device) for name, tensor in encoded.inputs.items()})
    return bundle.logits(Capability.MLM, output)[0, blanks[0]].double().softmax(-1).cpu()
