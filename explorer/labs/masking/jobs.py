"""The masking lab's jobs: fill masks, and corrupt a text as pretraining does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from explorer.errors import BadInputError, ExplorerError
from explorer.labs.masking.schema import (
    CorruptedToken,
    CorruptParams,
    CorruptResult,
    FilledMask,
    FillParams,
    FillResult,
    PatternsParams,
    PatternsResult,
    Prediction,
    SharesParams,
    SharesResult,
)
from explorer.maths.corruption import FATES, KEPT, MASK, RANDOM, CorruptionRecipe, fates_of
from explorer.models.batching import CHOSEN, Inputs, alone, answered_together, logits_at
from explorer.models.encoding import Encoded, encode, single_token, with_own_mask
from explorer.models.families import Capability
from explorer.models.hiding import Masker, hidden_positions, token_view
from explorer.models.loaded_model import LoadedModel

CONVERGENCE_POINTS = 60


def fill_masks(loaded: LoadedModel, params: FillParams) -> FillResult:
    """Predict every masked position of a text in one forward pass.

    Probabilities are the softmax over the whole vocabulary at that position, as in BERT (Devlin et al. 2019, section 3.1).
    Without a mask the result holds the tokens alone. Raises BadInputError if a position cannot be masked.
    """
    return alone(fill_masks_together(loaded, [params]))


def fill_masks_together(loaded: LoadedModel, asked: Sequence[FillParams]) -> list[FillResult | ExplorerError]:
    """Fill the masks of several texts in one batch: a result, or an error, for each."""
    return answered_together(asked, partial(_prepared, loaded), lambda rows: logits_at(loaded, Capability.MLM, rows))


def _prepared(loaded: LoadedModel, params: FillParams) -> tuple[list[Inputs], Callable[[Sequence[Tensor]], FillResult]]:
    """Return what the model reads, nothing without a mask, and what makes the result of its logits, (masks,
    vocabulary).
    """
    encoded = encode(loaded, with_own_mask(loaded.tokenizer, params.text))
    typed = [t.position for t in encoded.tokens if t.token_id == loaded.tokenizer.mask_token_id]
    hidden = sorted(hidden_positions(encoded, params.text, params.also_mask, params.spans) - set(typed))
    masked = sorted([*typed, *hidden])
    tokens = tuple(token_view(loaded, token, typed, hidden) for token in encoded.tokens)
    names = (loaded.model_id, params.text, loaded.tokenizer.mask_token, len(loaded.tokenizer), tokens)
    if not masked:
        return [], lambda logits: FillResult(*names, ())
    inputs = {name: tensor.clone() for name, tensor in encoded.inputs.items()}
    # With `in_view` the model sees the chosen tokens, and only typed masks are hidden.
    inputs["input_ids"][0, typed if params.in_view else masked] = int(loaded.tokenizer.mask_token_id)
    # Scores are wanted there alone: a vocabulary at every position would take most of the memory.
    inputs[CHOSEN] = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
    inputs[CHOSEN][0, masked] = True
    named = [_named(loaded, word) for word in params.words]
    truths = [encoded.tokens[position].token_id if position in hidden else None for position in masked]

    def filled(logits: Sequence[Tensor]) -> FillResult:
        rows = logits[0].log_softmax(-1).cpu()  # (masks, vocabulary)
        masks = tuple(
            _filled(loaded, position, row, truth, params.top_k, named)
            for position, row, truth in zip(masked, rows, truths, strict=True)
        )
        return FillResult(*names, masks, params.in_view)

    return [inputs], filled


def _named(loaded: LoadedModel, word: str) -> int:
    token, why = single_token(loaded.tokenizer, word)
    if token is None:
        raise BadInputError(f"{why}: look for another word.")
    return token


def _filled(
    loaded: LoadedModel, position: int, row: Tensor, truth: int | None, top_k: int, named: list[int]
) -> FilledMask:
    """Read one position's distribution; `row` is ln p, (vocabulary,)."""
    best = row.topk(min(top_k, len(row))).indices.tolist()
    ranks = {token_id: rank for rank, token_id in enumerate(best, start=1)}
    others = {token_id: 1 + int((row > row[token_id]).sum()) for token_id in named if token_id not in ranks}
    ranks |= dict(sorted(others.items(), key=lambda pair: pair[1]))  # named words follow the best, by rank
    predictions = tuple(
        Prediction(rank, token_id, decoded(loaded, token_id), float(row[token_id].exp()), token_id in named)
        for token_id, rank in ranks.items()
    )
    entropy = float(torch.special.entr(row.exp()).sum() / torch.log(torch.tensor(2.0)))  # in bits
    if truth is None:
        return FilledMask(position, predictions, entropy)
    return FilledMask(
        position,
        predictions,
        entropy,
        hidden=decoded(loaded, truth),
        hidden_rank=1 + int((row > row[truth]).sum()),
        hidden_probability=float(row[truth].exp()),
        surprisal=-float(row[truth]),
    )


def decoded(loaded: LoadedModel, token_id: int) -> str:
    """Return one token as the tokenizer spells it in a text."""
    return str(loaded.tokenizer.decode([token_id]))


def corrupt_text(loaded: LoadedModel, params: CorruptParams) -> CorruptResult:
    """Draw one corruption and measure the MLM loss at the chosen positions only.

    The mean of the positions' terms equals the model's own loss with labels of -100 elsewhere; both are returned.
    """
    encoded = _maskable(loaded, params.text)
    generator = torch.Generator().manual_seed(params.seed)
    corruption = Masker(loaded.tokenizer).corrupt(encoded.input_ids, recipe_of(params), generator, encoded.word_ids)
    terms, model_loss = _losses(loaded, encoded, corruption.input_ids, corruption.labels)
    shown = loaded.tokenizer.convert_ids_to_tokens(corruption.input_ids.tolist())
    tokens = tuple(
        CorruptedToken(
            token.position,
            token.text,
            token.shown,
            shown[token.position],
            token.joined,
            FATES[int(corruption.fates[token.position])],
            token.word is None,
            terms.get(token.position),
        )
        for token in encoded.tokens
    )
    mean = sum(terms.values()) / len(terms) if terms else None
    return CorruptResult(loaded.model_id, tokens, mean, model_loss)


def _losses(
    loaded: LoadedModel, encoded: Encoded, input_ids: Tensor, labels: Tensor
) -> tuple[dict[int, float], float | None]:
    """Return -ln p of the original token at each chosen position, and the MLM loss that the model computes from
    `labels=`.

    A class with a second head adds that head's loss and wants its label too, so it is given class 0 and its cross
    entropy is taken off again.
    """
    chosen = (labels >= 0).nonzero().flatten().tolist()  # elsewhere they are -100
    if not chosen:
        return {}, None
    device = loaded.device
    inputs = {name: tensor.to(device) for name, tensor in {**encoded.inputs, "input_ids": input_ids[None]}.items()}
    others = [head for task, head in loaded.architecture.heads.items() if task is not Capability.MLM]
    zero = torch.zeros(1, dtype=torch.long, device=device)
    output = loaded.model(**inputs, labels=labels[None].to(device), **{head.labels: zero for head in others})
    rows = loaded.logits(Capability.MLM, output)[0, chosen].float().log_softmax(-1).cpu()  # (chosen, vocabulary)
    terms = {place: -float(row[labels[place]]) for place, row in zip(chosen, rows, strict=True)}
    extra = sum(float(cross_entropy(getattr(output, head.logits).float(), zero)) for head in others)
    return terms, float(output.loss) - extra


def recipe_of(params: CorruptParams) -> CorruptionRecipe:
    """Return the recipe without text and seed."""
    return CorruptionRecipe(params.rate, params.mask_share, params.random_share, params.scheme)


def _maskable(loaded: LoadedModel, text: str) -> Encoded:
    encoded = encode(loaded, text)
    if all(word is None for word in encoded.word_ids):
        raise BadInputError("This text is made of special tokens only, and those are never masked. Type some words.")
    return encoded


def corruption_shares(loaded: LoadedModel, params: SharesParams) -> SharesResult:
    """Draw many corruptions and follow the shares of the four fates as they add up."""
    encoded = _maskable(loaded, params.text)
    recipe = recipe_of(params)
    generator = torch.Generator().manual_seed(params.seed)
    candidates = sum(word is not None for word in encoded.word_ids)
    counts = torch.zeros(params.draws, len(FATES), dtype=torch.float64)
    for draw in range(params.draws):
        # A fate that none has counts 0.
        counts[draw] = torch.bincount(fates_of(encoded.word_ids, recipe, generator), minlength=len(FATES))
    running = counts.cumsum(0)
    chosen = running[:, MASK] + running[:, RANDOM] + running[:, KEPT]
    # Spaced evenly on the figure's logarithmic axis.
    steps = torch.logspace(0, torch.log10(torch.tensor(float(params.draws))), CONVERGENCE_POINTS)
    points = sorted({min(params.draws, max(1, round(float(step)))) for step in steps})
    rows = torch.tensor(points) - 1  # after n draws: row n - 1

    kept = max(0.0, round(1 - params.mask_share - params.random_share, 9))  # 1 - 0.8 - 0.2 is below 0 in floats

    def of_chosen(fate: int) -> tuple[float, ...]:
        return tuple((running[rows, fate] / chosen[rows].clamp(min=1)).tolist())  # at a rate of 0 none is chosen

    all_candidates = torch.tensor(points, dtype=torch.float64) * candidates
    return SharesResult(
        draws=tuple(points),
        chosen=tuple((chosen[rows] / all_candidates).tolist()),
        mask=of_chosen(MASK),
        random=of_chosen(RANDOM),
        kept=of_chosen(KEPT),
        expected=(params.rate, params.mask_share, params.random_share, kept),
        candidates=candidates,
        chosen_tokens=int(chosen[-1]),
    )


def masking_patterns(loaded: LoadedModel, params: PatternsParams) -> PatternsResult:
    """Show static masking (each of a few masked copies seen again and again: BERT) beside dynamic masking (a fresh draw
    every epoch: RoBERTa, Liu et al. 2019, section 4.1).
    """
    encoded = _maskable(loaded, params.text)
    recipe = recipe_of(params)
    generator = torch.Generator().manual_seed(params.seed)

    def drawn() -> tuple[int, ...]:
        return tuple(fates_of(encoded.word_ids, recipe, generator).tolist())

    copies = [drawn() for _ in range(params.duplicates)]
    static = tuple(copies[epoch % params.duplicates] for epoch in range(params.epochs))
    dynamic = tuple(drawn() for _ in range(params.epochs))
    names = tuple(token.shown for token in encoded.tokens)
    return PatternsResult(names, static, dynamic, len(set(static)), len(set(dynamic)))
