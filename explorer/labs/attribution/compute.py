"""The attribution lab's jobs: what is asked, then small blocks of each method's work, none of which takes long.

Each leaves the engine's inference mode, since gradients cannot pass it. Nothing is changed that others share: the hooks
are on a private module tree, and gradients are asked of the embeddings alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from captum.attr import FeatureAblation, InputXGradient, Saliency  # type: ignore[import-untyped]
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from explorer.labs.attribution.schema import (
    Asked,
    AskParams,
    Fixed,
    GradientParams,
    OccludeParams,
    PathParams,
    RolloutParams,
    TokenView,
)
from explorer.labs.attribution.scoring import (
    Score,
    baseline_kind,
    log_odds,
    place_of,
    question_of,
    rows_of_a_block,
    target_name,
    target_of,
)
from explorer.maths.attention import rollout
from explorer.models.encoding import Encoded, asked_texts, encode
from explorer.models.inside import depth_of, read
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import question

NEAR_ZERO = 3
"""Where the baseline is the zero vector, the i-th of n stretches of conductance ends at (i/n)³, so that most lie near it.

A model that adds no positions to its word embeddings (DeBERTa, ModernBERT, EuroBERT) normalises what is scaled,
x / √(mean x² + ε): f stays the same but for the first √ε / rms(x) of the way. Equal stretches step over that.
"""


@contextmanager
def _gradients() -> Iterator[None]:
    with torch.inference_mode(False), torch.enable_grad():
        yield


def ask(loaded: LoadedModel, params: AskParams) -> Asked:
    """Ask the model about the text and about the baseline. Raises BadInputError if nothing can be asked."""
    encoded = _encoded(loaded, params.text, params.second)
    asked = question_of(loaded, encoded, params.classes, bool(params.second))
    kind = baseline_kind(loaded, params.baseline)
    with torch.inference_mode(False), torch.no_grad():
        score = Score(loaded, encoded, asked, 0)
        # Evaluated for replaced tokens alone.
        score.place = place_of(loaded, encoded, asked, params.position, lambda: score.answers(score.embeddings)[0])
        # Text and baseline in one pass: (2, classes).
        logits = score.logits(torch.cat([score.embeddings, score.baseline(kind, _kept(encoded))]))
        score.target = target_of(loaded, asked, params.target, logits[0])
        values = log_odds(logits, score.target).tolist()
    return Asked(
        loaded.model_id,
        Fixed(params.text, params.second, asked.slug, score.place, score.target, kind),
        target_name(loaded, asked, score.target),
        score.target == int(logits[0].argmax()),
        tuple(asked.places(loaded, encoded)),
        tuple(TokenView(t.position, t.text, t.shown, t.joined, t.word is None, t.segment) for t in encoded.tokens),
        values[0],
        values[1],
        "" if kind == "zero" else str(getattr(loaded.tokenizer, f"{kind}_token")),
        rows_of_a_block(loaded, len(encoded.tokens)),
        depth_of(loaded.model),
    )


def _encoded(loaded: LoadedModel, text: str, second: str) -> Encoded:
    first, other, _ = asked_texts(loaded, text, second)
    return encode(loaded, first, other or None)


def _kept(encoded: Encoded) -> list[bool]:
    """Return which positions keep their embeddings: special tokens, [CLS], [SEP] and the mask that is asked about.

    If the baseline replaced them, the question itself would be gone.
    """
    return [token.word is None for token in encoded.tokens]


def _opened(loaded: LoadedModel, fixed: Fixed) -> tuple[Score, Tensor]:
    """Return f, and the baseline's embeddings (1, T, E)."""
    encoded = _encoded(loaded, fixed.text, fixed.second)
    score = Score(loaded, encoded, question(fixed.slug), fixed.place, fixed.target)
    return score, score.baseline(fixed.baseline, _kept(encoded))


def _numbers(values: Tensor) -> tuple[float, ...]:
    return tuple(values.detach().double().cpu().tolist())


def path_block(loaded: LoadedModel, params: PathParams) -> tuple[float, ...]:
    """Compute what some nodes of the path add to integrated gradients, one number a position (Sundararajan et al. 2017,
    equation 1).

    Nodes and weights are those of Gauss-Legendre quadrature on the path from 0 to 1, as in captum's
    IntegratedGradients, which cannot be stopped between blocks; the blocks together give captum's result.
    """
    with _gradients():
        score, baseline = _opened(loaded, params.fixed)
        nodes, weights = (
            # (nodes, 1, 1), to scale (nodes, T, E).
            torch.tensor(values[params.first : params.last], dtype=baseline.dtype, device=baseline.device)[
                :, None, None
            ]
            for values in _gauss_legendre(params.steps)
        )
        change = score.embeddings - baseline
        way = (baseline + nodes * change).requires_grad_()
        (gradients,) = torch.autograd.grad(score(way).sum(), way)  # of the sum: each row depends on its own node alone
        return _numbers(((weights * gradients).sum(0) * change[0]).sum(-1))  # (T, E) to (T,)


def _gauss_legendre(steps: int) -> tuple[list[float], list[float]]:
    """Return nodes and weights of the quadrature on [0, 1]."""
    nodes, weights = leggauss(steps)  # on [-1, 1]
    return ((1 + nodes) / 2).tolist(), (weights / 2).tolist()


def gradient_block(loaded: LoadedModel, params: GradientParams) -> tuple[float, ...]:
    """Compute gradient times embedding summed over its dimensions, or the gradient's L2 norm, one number a position."""
    with _gradients():
        score, _ = _opened(loaded, params.fixed)
        embeddings = score.embeddings.requires_grad_()
        if params.method == "saliency":
            return _numbers(Saliency(score).attribute(embeddings, abs=False)[0].norm(dim=-1))
        return _numbers(InputXGradient(score).attribute(embeddings)[0].sum(-1))


def occlude_block(loaded: LoadedModel, params: OccludeParams) -> tuple[float, ...]:
    """Compute how much f falls when a group of positions takes the baseline's embeddings, one number a group."""
    with torch.inference_mode(False), torch.no_grad():
        score, baseline = _opened(loaded, params.fixed)
        positions = [position for group in params.groups for position in group]
        owners = [number for number, group in enumerate(params.groups) for _ in group]

        def with_these(part: Tensor) -> Tensor:
            whole = score.embeddings.repeat(len(part), 1, 1)  # (n, T, E)
            whole[:, positions] = part
            return score(whole)

        falls = FeatureAblation(with_these).attribute(
            # The positions that change alone: captum would try the others too.
            score.embeddings[:, positions],
            baseline[:, positions],
            feature_mask=torch.tensor(owners, device=baseline.device)[None, :, None],  # (1, positions, 1)
            perturbations_per_eval=len(params.groups),  # all groups in one pass
        )
        # The positions of a group share its fall.
        return _numbers(torch.stack([falls[0, owners.index(number), 0] for number in range(len(params.groups))]))


def layers_block(loaded: LoadedModel, params: PathParams) -> tuple[tuple[float, ...], ...]:
    """Compute what some stretches of the path add to every layer's conductance: a row of positions for each layer.

    Conductance sums, along the path from baseline to text, the change of a hidden state times the gradient there
    (Dhamdhere et al. 2019); the stretches need not be equally long. captum's LayerConductance takes the gradient at
    each stretch's start and one layer at a time; here it is the mean of both ends, and one pass serves all layers.
    """
    with _gradients():
        score, baseline = _opened(loaded, params.fixed)
        # Both ends of each stretch.
        nodes = torch.linspace(0, 1, params.steps + 1, device=baseline.device)[params.first : params.last + 1]
        nodes = nodes**NEAR_ZERO if params.fixed.baseline == "zero" else nodes
        way = baseline + nodes[:, None, None] * (score.embeddings - baseline)
        states: list[Tensor] = []
        for layer in _layers(loaded, score):
            # Never removed: the tree is this block's own.
            layer.register_forward_hook(lambda module, given, output: states.append(_state(output)))
        answers = score(way.requires_grad_())
        gradients = torch.autograd.grad(answers.sum(), states)  # (nodes, T, width) each
        rows = []
        for state, gradient in zip(states, gradients, strict=True):
            flows = (state[1:] - state[:-1]) * (gradient[1:] + gradient[:-1]) / 2  # (stretches, T, width)
            rows.append(_numbers(flows.sum((0, -1))))
        return tuple(rows)


def _layers(loaded: LoadedModel, score: Score) -> list[torch.nn.Module]:
    """Return the modules whose outputs are the layers' hidden states; ALBERT's one is called as often as it has layers."""
    layers = loaded.architecture.layers
    count = layers.count(name for name, _ in score.tree.named_parameters())
    return [score.tree.get_submodule(layers.name(number, "").rstrip(".")) for number in range(count)]


def _state(output: Any) -> Tensor:
    state: Tensor = output[0] if isinstance(output, (tuple, list)) else output
    return state


def rollout_block(loaded: LoadedModel, params: RolloutParams) -> tuple[float, ...]:
    """Compute the share of each position in the asked one by attention rollout (Abnar and Zuidema 2020, section 3)."""
    encoded = _encoded(loaded, params.fixed.text, params.fixed.second)
    flow = rollout(read(loaded, encoded.inputs).attentions)[-1][0]  # (T, T)
    return _numbers(flow[_reading_place(loaded, params.fixed, len(flow))])


def _reading_place(loaded: LoadedModel, fixed: Fixed, length: int) -> int:
    """Return the position whose final state the answer is read from: the asked one; GPT-2's classifier reads the last."""
    return length - 1 if fixed.slug == "class" and loaded.architecture.layers.reads_last else fixed.place
