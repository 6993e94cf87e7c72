"""BERT's NSP head alone, fitted anew: (2, width) and (2,), a logistic regression on the pooled states as they are.

Nothing that runs on the model was trained on reads this head, nor does MLM, so all of that stays as it is; the pooler must
stay, since every classifier reads it. Fitted on matched pairs (matched.py) and on BERT's own random ones (rows.py). How
strongly the weights are held small is chosen by cross-validation over documents.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.maths.corruption import CorruptionRecipe
from explorer.models.families import Capability
from explorer.models.hiding import Masker
from explorer.objectives.batches import collate
from explorer.objectives.losses import PAIR_CLASSIFIERS, encode
from explorer.objectives.rows import IS_NEXT, NOT_NEXT, Row, RowMaker, row_maker
from explorer.objectives.text import TextStore
from pretraining.export import overwrite
from pretraining.matched import MatchedPairs, Neighbours, neighbours
from pretraining.measures.everyday import everyday_pairs, near_copies
from pretraining.measures.masks import ROWS_PER_BATCH
from pretraining.measures.measure import open_loaded
from pretraining.objectives.base import Place
from pretraining.pair_recipes import HeadRecipe
from pretraining.starts.sentences import SentenceEncoder
from pretraining.store import EVERYDAY, everyday_store, load_stores

RECORD = "head.json"
"""Beside the weights of a model whose NSP head was fitted so."""
RANDOM = "random"
"""The kind of BERT's own pairs; that of a matched pair is its source."""


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A pair as the model reads it, its kind, and the fold of the cross-validation that it is tested in."""

    row: Row
    kind: str
    fold: int


Head = tuple[NDArray[np.float64], float]
"""How much more each entry of the pooled state speaks for `is next` than for `not next`, (width,), and the same of the bias."""


def fit_head(folder: Path, recipe: HeadRecipe, place: Place) -> Path:
    """Fit a finished model's NSP head, put it in the place of the one that is there, and write RECORD; RECORD's path.

    Raises BadInputError for a model without an NSP head.
    """
    loaded = open_loaded(folder)
    if Capability.NSP not in loaded.capabilities:
        raise BadInputError(f"{folder.name} has no NSP head: take one that has, such as bert-small.")
    for needed in (place.work, place.downloads):
        needed.mkdir(parents=True, exist_ok=True)
    stores = load_stores(place.corpus, loaded.tokenizer, place.work / "tokens")
    stores[EVERYDAY.stem] = everyday_store(loaded.tokenizer)
    encoder = SentenceEncoder(loaded.tokenizer, place.downloads, place.work / "tokens")
    drawn = draw(recipe, stores, row_maker(loaded.tokenizer), encoder)
    drawn = without_held_out(drawn, loaded.tokenizer)
    states = pooled(loaded.model, loaded.tokenizer, [pair.row for pair in drawn])
    (weight, bias), chosen, figures = fitted(states, drawn, recipe)
    name = PAIR_CLASSIFIERS[type(loaded.model).__name__]
    halves = torch.tensor(weight / 2), torch.tensor(bias / 2)
    found = {
        f"{name}.{kind}": torch.stack([half, -half]) for kind, half in zip(("weight", "bias"), halves, strict=True)
    }
    overwrite(folder, found)
    about = dataclasses.asdict(recipe) | {"pairs": len(drawn), "strength": chosen, "cross_validated": figures}
    (folder / RECORD).write_text(json.dumps(about, indent=2) + "\n")
    return folder / RECORD


def draw(recipe: HeadRecipe, stores: Mapping[str, TextStore], maker: RowMaker, embed: SentenceEncoder) -> list[Drawn]:
    """Every related pair of neighbours once as it is and once with an unrelated second; then the random pairs.

    The two sentences of a false pair are of the same fold, so no fold is tested on a sentence that was learned from.
    """
    rng, drawn = np.random.default_rng(recipe.seed), list[Drawn]()
    found = neighbours(stores, recipe.neighbours, recipe.seed)
    embedded = embed(found.firsts), embed(found.seconds)
    for fold in range(recipe.folds):
        inside = [place for place, document in enumerate(found.documents) if document % recipe.folds == fold]
        columns = (found.sources, found.documents, found.firsts, found.seconds)
        part = Neighbours(*(tuple(column[place] for place in inside) for column in columns))  # type: ignore[arg-type]
        matched = MatchedPairs(part, (embedded[0][inside], embedded[1][inside]), {}, recipe.written)
        for pair, other in matched.each(rng):
            for second, label in ((pair, IS_NEXT), (other, NOT_NEXT)):
                row = maker.joined(part.firsts[pair], part.seconds[second], label)
                drawn.append(Drawn(row, part.sources[pair], fold))
    for source, count in recipe.random.items():
        if source in stores:
            rows = (maker.pair(stores[source], recipe.length, rng) for _ in range(count))
            drawn += [Drawn(row, RANDOM, number % recipe.folds) for number, row in enumerate(rows)]
    return drawn


def without_held_out(drawn: Sequence[Drawn], tokenizer: PreTrainedTokenizerBase) -> list[Drawn]:
    """The pairs without those matched ones that have a sentence near one of those that the head is measured on."""
    held = {sentence for pair in everyday_pairs() for sentence in pair[:2]}
    sentences = [str(tokenizer.decode(pair.row.input_ids)).split("[SEP]")[:2] for pair in drawn]
    near = {copy for _, copy in near_copies(held, {one for both in sentences for one in both})}
    return [pair for pair, both in zip(drawn, sentences, strict=True) if pair.kind == RANDOM or not near & set(both)]


@torch.inference_mode()
def pooled(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[Row]) -> NDArray[np.float32]:
    """The pooled states, (rows, width); computed in bf16, three times as fast as in float32 where a processor knows it."""
    states = np.zeros((len(rows), model.config.hidden_size), dtype=np.float32)
    order = np.argsort([len(row.input_ids) for row in rows], kind="stable")
    masker, untouched = Masker(tokenizer), CorruptionRecipe(rate=0.0)
    for first in range(0, len(order), ROWS_PER_BATCH):
        places = order[first : first + ROWS_PER_BATCH]
        batch = collate([rows[place] for place in places], untouched, masker, torch.Generator())
        with torch.autocast(model.device.type, torch.bfloat16):
            states[places] = encode(model, batch).pooler_output.float().cpu().numpy()
    return states


def fitted(
    states: NDArray[np.float32], drawn: Sequence[Drawn], recipe: HeadRecipe
) -> tuple[Head, float, dict[str, float]]:
    """The head, the strength it was fitted with, and the share of each kind's pairs that it gets right in cross-validation.

    The strength is the one with the smallest loss, in which a kind weighs as the recipe says, its two classes alike.
    """
    true = np.array([pair.row.pair_label == IS_NEXT for pair in drawn])
    kinds, folds = (np.array([getattr(pair, name) for pair in drawn]) for name in ("kind", "fold"))
    weights = np.zeros(len(drawn))
    for kind, share in recipe.shares.items():
        for one in (true, ~true):
            chosen = one & (kinds == kind)
            weights[chosen] = share / max(1, chosen.sum())
    weights *= len(drawn) / weights.sum()
    scores = {strength: np.zeros(len(drawn)) for strength in recipe.strengths}
    for strength, found in scores.items():
        for fold in range(recipe.folds):
            learned, tested = folds != fold, folds == fold
            weight, bias = _regression(states[learned], true[learned], weights[learned], strength)
            found[tested] = states[tested] @ weight + bias
    losses = {
        strength: float(weights @ np.logaddexp(0, np.where(true, -found, found))) for strength, found in scores.items()
    }
    best = min(losses, key=lambda strength: losses[strength])
    right = (scores[best] > 0) == true
    figures = {kind: round(float(right[kinds == kind].mean()), 4) for kind in recipe.shares if kind in kinds}
    return _regression(states, true, weights, best), best, figures


def _regression(
    states: NDArray[np.float32], true: NDArray[np.bool_], weights: NDArray[np.float64], strength: float
) -> Head:
    """On states scaled to mean 0 and variance 1, given back for states as they are."""
    mean, scale = states.mean(0, dtype=np.float64), states.std(0, dtype=np.float64) + 1e-6
    model = LogisticRegression(C=1 / strength, solver="newton-cholesky")
    model.fit((states - mean) / scale, true, sample_weight=weights)
    weight = model.coef_[0] / scale
    return weight, float(model.intercept_[0] - weight @ mean)
