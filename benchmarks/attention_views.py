"""bertviz's views as this app sends them, against bertviz as it comes: bytes to the browser and seconds of the server."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from bertviz import head_view, model_view
from transformers import AutoTokenizer, BertConfig, BertForPreTraining, PreTrainedTokenizerBase

from explorer.charts.words import megabytes
from explorer.labs.attention.views import AttentionViewParams
from explorer.labs.attention.views_document import compressed_template
from explorer.labs.attention.views_jobs import attention_view
from explorer.labs.attention.views_page import PARAGRAPH, framed
from explorer.models.encoding import encode
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import BUNDLED_MODELS, Settings

ROUNDS = 5
"""Of which the quickest counts, on a machine that others use too; the forward pass alone and the whole answer take turns."""

SPREAD = 0.1
"""Of the random weights: with BERT's 0.02 every head would spread evenly, which no trained one does."""


def base_model(folder: Path) -> LoadedModel:
    """A BERT-base with random weights and the bundled tokenizer."""
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / "bert-small")
    BertForPreTraining(BertConfig(vocab_size=len(tokenizer), initializer_range=SPREAD)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_model(str(folder), Settings(device="cpu"))


def text_of(tokenizer: PreTrainedTokenizerBase, tokens: int) -> str:
    """The longest beginning of a repeated paragraph that has at most so many tokens."""
    words = PARAGRAPH.split() * 5
    count = max(
        n for n in range(len(words)) if len(tokenizer(" ".join(words[:n]), verbose=False)["input_ids"]) <= tokens
    )
    return " ".join(words[:count])


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what it returned."""
    began = time.perf_counter()
    value = call()
    return time.perf_counter() - began, value


def ours(loaded: LoadedModel, params: AttentionViewParams) -> tuple[float, float, int]:
    """Seconds of the forward pass alone, seconds of the answer over it, bytes of the answer."""
    tree = BertForPreTraining.from_pretrained(loaded.model_id, attn_implementation="eager").eval()
    inputs = encode(loaded, params.sentence_a).inputs
    alone, whole, size = [], [], 0
    for _ in range(ROUNDS):
        alone.append(timed(lambda: tree(**inputs, output_attentions=True))[0])
        seconds, sent = timed(lambda: json.dumps(framed(attention_view(loaded, params))))
        whole.append(seconds)
        size = len(sent.encode())
    return min(alone), min(whole) - min(alone), size


def as_it_comes(loaded: LoadedModel, text: str, view: Callable[..., Any], **options: Any) -> tuple[float, int]:
    """Seconds over the forward pass, and bytes, of bertviz's own page."""
    encoded = encode(loaded, text)
    tree = BertForPreTraining.from_pretrained(loaded.model_id, attn_implementation="eager").eval()
    attentions: Sequence[torch.Tensor] = tree(**encoded.inputs, output_attentions=True).attentions
    tokens = [token.shown for token in encoded.tokens]
    seconds, page = timed(lambda: view(list(attentions), tokens, html_action="return", **options).data.encode())
    return seconds, len(page)


@torch.inference_mode()
def measure() -> str:
    """One line a case: ours and bertviz's own."""
    lines = [f"the page of bertviz's views, fetched once: {megabytes(len(compressed_template()))}"]
    with tempfile.TemporaryDirectory() as folder:
        with torch.inference_mode(False):
            loaded = base_model(Path(folder))
        for tokens, view, wanted in (
            (128, "head", ""),
            (128, "model", " (wanted: at most 3 MB and 0.5 s)"),
            (512, "head", ""),
            (512, "model", ""),
        ):
            text = text_of(loaded.tokenizer, tokens)
            forward, seconds, size = ours(loaded, AttentionViewParams(text, "", view))
            line = f"{view} view of {len(encode(loaded, text).tokens)} tokens, 12 x 12: {megabytes(size)} and {seconds:.2f} s"
            lines.append(
                f"{line} over a forward pass of {forward:.2f} s{wanted}; {_bertviz(loaded, text, view, tokens)}"
            )
    return "\n".join(lines)


def _bertviz(loaded: LoadedModel, text: str, view: str, tokens: int) -> str:
    """The same by bertviz; of 512 tokens one layer only, since all of them fill the memory."""
    if view == "model" and tokens > 128:
        return "by bertviz as it comes 16 times what it takes for 128 tokens"
    options = {"include_layers": [0]} if view == "head" else {}
    seconds, size = as_it_comes(loaded, text, head_view if view == "head" else model_view, **options)
    return f"bertviz as it comes{', one layer' if options else ''}: {megabytes(size)} and {seconds:.1f} s"
