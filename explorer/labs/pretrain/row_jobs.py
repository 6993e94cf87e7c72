"""One row, drawn, hidden and paid for by what made the bundled models: explorer.objectives."""

from __future__ import annotations

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.pretrain.row import FORCED, ROOM, RowParams, RowResult, RowToken, Segment
from explorer.maths.corruption import FATES, KEPT, MASK, RANDOM, UNTOUCHED, CorruptionRecipe
from explorer.models.families import Capability
from explorer.models.hiding import Masker
from explorer.models.loaded_model import LoadedModel
from explorer.objectives.batches import Batch, collate
from explorer.objectives.losses import masked_loss, mlm_logits, pair_logits, with_pairs
from explorer.objectives.rows import IS_NEXT, DrawnPair, row_maker
from explorer.objectives.text import TextStore
from explorer.text import checked_text, split_sentences

FIRST, SECOND = 0, 1
"""The two documents."""
SPECIAL = 3
"""[CLS] and two [SEP]."""


def pretraining_row(resources: Resources, params: RowParams) -> RowResult:
    """Draw a pair by the seed, hide some of its tokens by the same, and work out BERT's two losses.

    Segments fill the row as far as the documents reach (Devlin et al. 2019, A.2). Raises MissingCapabilityError for a model
    that lacks one of the two heads, BadInputError for documents that hold no pair.
    """
    loaded = resources.model(params.model)
    loaded.require(Capability.MLM)
    loaded.require(Capability.NSP)
    documents = _documents(loaded.tokenizer, params)
    store = TextStore.from_documents([list(sentences) for sentences in documents], loaded.tokenizer)
    room = min(ROOM, loaded.longest)
    pair = _drawn(store, loaded.tokenizer, params, room)
    recipe, generator = CorruptionRecipe(rate=params.rate, scheme=params.scheme), torch.Generator()
    # One row, so any seed of its own gives one draw.
    batch = collate([pair.row], recipe, Masker(loaded.tokenizer), generator.manual_seed(params.seed))
    tokens, mlm_loss, probabilities, nsp_loss = _paid(loaded, batch)
    return RowResult(
        model=params.model,
        documents=documents,
        a=_segment(store, *pair.a),
        b=_segment(store, *pair.b),
        follows=pair.row.pair_label == IS_NEXT,
        tossed=params.next == "drawn",
        room=room,
        cut=pair.wanted - (len(pair.row.input_ids) - SPECIAL),  # how many of the wanted tokens did not fit
        tokens=tokens,
        mlm_loss=mlm_loss,
        pair=probabilities,
        nsp_loss=nsp_loss,
    )


def _documents(tokenizer: PreTrainedTokenizerBase, params: RowParams) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of both documents that hold a token. Raises BadInputError for a document without any."""
    found = []
    for number, text in ((1, params.document_a), (2, params.document_b)):
        lines = [checked_text(line) for line in text.splitlines() if line.strip()]
        sentences = [sentence for line in lines for sentence in split_sentences(line)]
        read = tokenizer(sentences, add_special_tokens=False, verbose=False)["input_ids"] if sentences else []
        found.append(tuple(sentence for sentence, ids in zip(sentences, read, strict=True) if ids))
        if not found[-1]:
            raise BadInputError(f"Document {number} holds no token that this vocabulary reads. Type a sentence.")
    return found[FIRST], found[SECOND]


def _drawn(store: TextStore, tokenizer: PreTrainedTokenizerBase, params: RowParams, room: int) -> DrawnPair:
    """Draw A from the first document, B from where it follows or from the second."""
    rng = np.random.default_rng(params.seed)
    maker, follows = row_maker(tokenizer), FORCED[params.next]
    # No pairs of single sentences: they would leave most of the row empty.
    return maker.drawn_pair(store, room, rng, short_share=0.0, document=FIRST, follows=follows)


def _segment(store: TextStore, start: int, stop: int) -> Segment:
    """Return the sentences, numbered in their document, that hold the tokens between two places."""
    first, last = store.sentence_of(start), store.sentence_of(stop - 1)
    document = int(store.documents[first])
    before = int((store.documents < document).sum())  # the store numbers the sentences of both in one row
    return Segment(document, first - before, last + 1 - before)


def _paid(loaded: LoadedModel, batch: Batch) -> tuple[tuple[RowToken, ...], float | None, tuple[float, float], float]:
    """Return what the model says of the row in one pass of its encoder: the tokens, L_MLM, the pair's probabilities,
    L_NSP.
    """
    model, chosen = loaded.model, batch.labels >= 0  # (1, T); elsewhere labels are -100
    masked = masked_loss(model, batch)
    figures = with_pairs(masked, model, batch).figures
    # (chosen, vocabulary).
    scores = mlm_logits(model, masked.output.last_hidden_state, chosen).float().log_softmax(-1).cpu()
    next_, other = pair_logits(model, masked.output.pooler_output).float().softmax(-1)[0].tolist()
    losses = (-scores.gather(1, batch.labels[chosen][:, None]).squeeze(1)).tolist()  # (chosen,)
    places, guesses = chosen[0].nonzero().flatten().tolist(), scores.argmax(-1).tolist()
    asked = {place: (loss, guess) for place, loss, guess in zip(places, losses, guesses, strict=True)}
    mlm_loss = figures["mlm_loss"] if asked else None  # a mean of nothing is no loss
    return _tokens(loaded.tokenizer, batch, asked), mlm_loss, (next_, other), figures["pair_loss"]


def _tokens(
    tokenizer: PreTrainedTokenizerBase, batch: Batch, asked: dict[int, tuple[float, int]]
) -> tuple[RowToken, ...]:
    """Make the row's tokens. asked: the loss and the model's own guess at each chosen position."""
    true_ids, shown_ids = batch.original_ids[0].tolist(), batch.input_ids[0].tolist()
    special, vocabulary = set(tokenizer.all_special_ids), tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    rows = []
    for place, (true_id, shown_id) in enumerate(zip(true_ids, shown_ids, strict=True)):
        loss, guess = asked.get(place, (None, None))
        rows.append(
            RowToken(
                place,
                vocabulary[true_id],
                int(batch.token_type_ids[0, place]),
                vocabulary[shown_id],
                FATES[_fate(tokenizer, true_id, shown_id, loss is not None)],
                true_id in special,
                None if loss is None else float(np.exp(-loss)),
                loss,
                "" if guess is None else vocabulary[guess],
            )
        )
    return tuple(rows)


def _fate(tokenizer: PreTrainedTokenizerBase, true_id: int, shown_id: int, chosen: bool) -> int:
    """Tell from what the batch holds what became of a token.

    A random replacement that happens to be the token itself, one in the whole vocabulary, counts as kept.
    """
    if not chosen:
        return UNTOUCHED
    return MASK if shown_id == tokenizer.mask_token_id else KEPT if shown_id == true_id else RANDOM
