"""ELECTRA's loop on one text: mask, let the generator write, ask the discriminator (Clark et al. 2020, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.replaced.schema import (
    THRESHOLD,
    DrawsParams,
    DrawsResult,
    HandParams,
    JudgedToken,
    ReplacedParams,
    ReplacedResult,
)
from explorer.maths.corruption import CorruptionRecipe, choose_positions
from explorer.maths.detection import auc, roc, sampled
from explorer.models.encoding import Encoded, encode, replacement_ids
from explorer.models.families import Capability
from explorer.models.families.electra import generator_of
from explorer.models.heads import head_at
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel

AT_ONCE = 1024
"""Tokens that are read at once, in some tenths of a second."""

MOST_POINTS = 200
"""Of a curve."""


@dataclass(frozen=True)
class Pair:
    """A discriminator with its generator."""

    discriminator: LoadedModel
    generator: LoadedModel


@dataclass(frozen=True)
class Draws:
    """Several draws of one text, a row each: all (draws, tokens), of the text's own tokens.

    shown: the ids that the discriminator reads. scores: its logits, above 0 for replaced. surprisal, drawn: the generator's
    -ln p of the original, and p of what it wrote; meaningless where nothing was masked.
    """

    shown: Tensor
    chosen: Tensor
    replaced: Tensor
    scores: Tensor
    surprisal: Tensor
    drawn: Tensor


def replaced_tokens(resources: Resources, params: ReplacedParams) -> ReplacedResult:
    """Mask a text, let the generator fill it, and ask the discriminator of every token whether it was replaced."""
    pair = _opened(resources, params.model)
    encoded = _with_words(pair.discriminator, params.text)
    draw = _drawn(pair, encoded, params, [params.seed])
    names = pair.discriminator.tokenizer.convert_ids_to_tokens(draw.shown[0].tolist())
    losses = _losses(draw)[0].tolist()
    words = [token for token in encoded.tokens if token.word is not None]
    tokens = []
    for place, (token, name) in enumerate(zip(words, names, strict=True)):
        chosen, replaced = bool(draw.chosen[0, place]), bool(draw.replaced[0, place])
        tokens.append(
            JudgedToken(
                token.position,
                token.text,
                name,
                token.shown,
                name.removeprefix("##") if replaced else token.shown,
                name.startswith("##") if replaced else token.joined,
                replaced,
                float(draw.scores[0, place].sigmoid()),
                losses[place],
                chosen,
                float(draw.surprisal[0, place]) if chosen else None,
                float(draw.drawn[0, place]) if chosen else None,
            )
        )
    return ReplacedResult(params.model, pair.generator.model_id, tuple(tokens))


def replaced_draws(resources: Resources, params: DrawsParams) -> Iterator[DrawsResult]:
    """Measure how well the discriminator tells replaced tokens over many draws; each result counts all that are done."""
    pair = _opened(resources, params.model)
    encoded = _with_words(pair.discriminator, params.text)
    seeds = range(params.seed, params.seed + params.draws)
    size = max(1, AT_ONCE // len(encoded.tokens))
    done: list[Draws] = []
    for first in range(0, params.draws, size):
        done.append(_drawn(pair, encoded, params, seeds[first : first + size]))
        yield _counted(pair, params, done)


def replaced_by_hand(loaded: LoadedModel, params: HandParams) -> ReplacedResult:
    """Judge a text that a visitor has changed. A token counts as replaced if the two texts differ there."""
    before, after = encode(loaded, params.text), _with_words(loaded, params.shown)
    scores, earlier = (_scores(loaded, read, read.input_ids[None])[0] for read in (after, before))
    old = [token for token in before.tokens if token.word is not None]
    new = [token for token in after.tokens if token.word is not None]
    # difflib's autojunk would skip frequent tokens.
    same = SequenceMatcher(None, [token.token_id for token in old], [token.token_id for token in new], autojunk=False)
    tokens, left_out = [], 0
    for kind, start, stop, first, last in same.get_opcodes():
        left_out += max(0, (stop - start) - (last - first))  # tokens of the text that nothing stands for
        for place in range(first, last):
            token, replaced, score = new[place], kind != "equal", scores[place]
            at = start + place - first  # beside it in the text, if that has as many
            original, was = (old[at].text, old[at].shown) if at < stop else ("", "")
            loss = binary_cross_entropy_with_logits(score, torch.tensor(float(replaced)))
            tokens.append(
                JudgedToken(
                    token.position,
                    original,
                    token.text,
                    was,
                    token.shown,
                    token.joined,
                    replaced,
                    float(score.sigmoid()),
                    float(loss),
                    before=float(earlier[at].sigmoid()) if replaced and at < stop else None,
                )
            )
    return ReplacedResult(loaded.model_id, "", tuple(tokens), left_out)


def _opened(resources: Resources, model: str) -> Pair:
    """Open a discriminator and the generator that is called alike. Raises ExplorerError if there is no such pair."""
    discriminator = resources.model(model)
    discriminator.require(Capability.RTD)
    name = generator_of(model)
    if name == model:
        raise BadInputError(
            f"{model} doesn't say which generator is its own: pairs are told by their names, NAME-discriminator and "
            "NAME-generator."
        )
    generator = resources.model(name)
    generator.require(Capability.MLM)
    if generator.tokenizer.get_vocab() != discriminator.tokenizer.get_vocab():
        raise BadInputError(f"{name} and {model} have different vocabularies, so one can't read what the other writes.")
    return Pair(discriminator, generator)


def _with_words(loaded: LoadedModel, text: str) -> Encoded:
    encoded = encode(loaded, text)
    if all(word is None for word in encoded.word_ids):
        raise BadInputError("This text is made of special tokens only, and those are never replaced. Type some words.")
    return encoded


def _drawn(pair: Pair, encoded: Encoded, params: ReplacedParams, seeds: Sequence[int]) -> Draws:
    """Draw once for each seed: positions are chosen and masked, the generator writes, the discriminator judges."""
    recipe = CorruptionRecipe(params.rate, mask_share=1.0, random_share=0.0)
    # One generator a draw, so that a draw is the same whichever others are in its batch.
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    # (draws, length).
    chosen = torch.stack([choose_positions(encoded.word_ids, recipe, generator) for generator in generators])
    shown = encoded.input_ids.repeat(len(seeds), 1)
    surprisal, drawn = torch.zeros(shown.shape), torch.zeros(shown.shape)
    if chosen.any():
        masked = shown.masked_fill(chosen, int(pair.generator.tokenizer.mask_token_id))
        tree = private_tree(pair.generator.model)
        with head_at(tree, chosen.to(pair.generator.device)):
            output = tree(**_inputs(pair.generator, encoded, masked))
        logits = pair.generator.logits(Capability.MLM, output)[0].float().cpu()  # (chosen of all rows, vocabulary)
        ordinary = replacement_ids(pair.generator.tokenizer)  # so that no [MASK] is ever shown
        parts = logits[:, ordinary].split(chosen.sum(-1).tolist())  # a part a row, for its own generator
        written = torch.cat(
            [sampled(part, one, params.temperature) for part, one in zip(parts, generators, strict=True)]
        )
        log_probabilities = logits.log_softmax(-1)  # over the whole vocabulary: the loss is that of training
        truth, written = shown[chosen], ordinary[written]
        surprisal[chosen] = -log_probabilities.gather(1, truth[:, None]).squeeze(1)  # (chosen,)
        drawn[chosen] = log_probabilities.gather(1, written[:, None]).squeeze(1).exp()
        shown[chosen] = written
    own = torch.tensor([word is not None for word in encoded.word_ids])
    replaced, scores = (shown != encoded.input_ids)[:, own], _scores(pair.discriminator, encoded, shown)
    # The text's own tokens.
    return Draws(shown[:, own], chosen[:, own], replaced, scores, surprisal[:, own], drawn[:, own])


def _scores(loaded: LoadedModel, encoded: Encoded, shown: Tensor) -> Tensor:
    """Compute the discriminator's logits for rows of ids, (rows, length): (rows, the text's own tokens), on the CPU."""
    output = loaded.model(**_inputs(loaded, encoded, shown))
    own = torch.tensor([word is not None for word in encoded.word_ids])
    return loaded.logits(Capability.RTD, output).float().cpu()[:, own]


def _inputs(loaded: LoadedModel, encoded: Encoded, rows: Tensor) -> dict[str, Tensor]:
    """Return rows of ids with what else the model is told of the text, on its device."""
    told = {name: tensor.expand(len(rows), -1) for name, tensor in encoded.inputs.items()}
    return {name: tensor.to(loaded.device) for name, tensor in {**told, "input_ids": rows}.items()}


def _losses(draws: Draws) -> Tensor:
    """Return the binary cross-entropy of each token, in nats: (draws, tokens)."""
    return binary_cross_entropy_with_logits(draws.scores, draws.replaced.float(), reduction="none")


def _counted(pair: Pair, params: DrawsParams, done: Sequence[Draws]) -> DrawsResult:
    scores = torch.cat([draws.scores for draws in done])
    replaced, chosen = (torch.cat([getattr(draws, name) for draws in done]) for name in ("replaced", "chosen"))
    surprisal = torch.cat([draws.surprisal for draws in done])[chosen]
    thresholds, hits, false_alarms = roc(scores.flatten(), replaced.flatten())
    # Spread evenly, with both ends.
    kept = torch.linspace(0, len(thresholds) - 1, min(len(thresholds), MOST_POINTS)).round().long()
    found = scores.sigmoid() >= THRESHOLD
    return DrawsResult(
        model=params.model,
        generator=pair.generator.model_id,
        draws=len(scores),
        of=params.draws,
        tokens=scores.numel(),
        chosen=int(chosen.sum()),
        replaced=int(replaced.sum()),
        auc=auc(scores.flatten(), replaced.flatten()),
        aucs=tuple(auc(*draw) for draw in zip(scores, replaced, strict=True)),
        thresholds=tuple(thresholds[kept].sigmoid().tolist()),
        hits=tuple(hits[kept].tolist()),
        false_alarms=tuple(false_alarms[kept].tolist()),
        at_half=(_share(found, replaced), _share(found, ~replaced)),
        loss=float(torch.cat([_losses(draws) for draws in done]).mean()),
        masked_loss=float(surprisal.mean()) if len(surprisal) else None,
    )


def _share(found: Tensor, among: Tensor) -> float:
    """Return the share of some tokens that were found; 0 of none."""
    return int((found & among).sum()) / max(1, int(among.sum()))
