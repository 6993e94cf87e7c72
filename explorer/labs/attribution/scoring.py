"""f, the number that is explained: the log-odds of one answer, the model's own or a visitor's, as a function of embeddings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import BadInputError
from explorer.models.encoding import Encoded
from explorer.models.heads import head_at
from explorer.models.inside import depth_of, neurons_of, private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, fitting_question, question, scores


def question_of(loaded: LoadedModel, encoded: Encoded, classes: tuple[str, ...], is_pair: bool) -> Question:
    """Return the question that the text puts to the model, or its class for a fine-tuned one. Raises BadInputError."""
    return replace(question("class"), classes=classes) if classes else fitting_question(loaded, encoded, is_pair)


def place_of(
    loaded: LoadedModel, encoded: Encoded, asked: Question, wanted: int | None, everywhere: Callable[[], Tensor]
) -> int:
    """Return the position to ask at: the one that is wanted, else the first mask, or the token that was most probably
    replaced.

    everywhere: a function that returns the logits of all positions, (T, classes).
    """
    places = asked.places(loaded, encoded)
    if not places:
        raise BadInputError(f"There is no token in this text of which {loaded.model_id} could be asked. Type a word.")
    if wanted is None:
        if asked.slug != "replaced":
            return places[0]
        logits = everywhere()
        return max(places, key=lambda place: float(logits[place, 1] - logits[place, 0]))  # the log-odds of "replaced"
    if wanted not in places:
        # A dozen are enough to see the pattern.
        could = ", ".join(str(place) for place in places[:12]) + (", …" if len(places) > 12 else "")
        raise BadInputError(f"Nothing is asked at position {wanted} of this text. It can be asked at {could}.")
    return wanted


def target_of(loaded: LoadedModel, asked: Question, wanted: str, logits: Tensor) -> int:
    """Return the class to explain, from one place's logits (classes,): the best one, or the one that is named.

    Raises BadInputError for a word that is no token of the vocabulary, and for a class that does not exist.
    """
    if len(logits) < 2:
        raise BadInputError(f"{loaded.model_id} predicts a score and no class. Choose a run of a classification task.")
    if not wanted:
        return int(logits.argmax())
    if asked.slug in ("mask", "continue"):
        return _token(loaded, wanted, logits)
    names = [class_name(asked, loaded, number) for number in range(len(logits))]
    # By name or number, however it is capitalised.
    fitting = [number for number, name in enumerate(names) if wanted.casefold() in (name.casefold(), str(number))]
    if not fitting:
        raise BadInputError(f"There is no class {wanted!r}. Name one of {', '.join(names)}, or leave the target empty.")
    return fitting[0]


def _token(loaded: LoadedModel, wanted: str, logits: Tensor) -> int:
    """Return a word's token. A vocabulary that counts the space before a word has two for it: the likelier is taken."""
    tokenizer = loaded.tokenizer
    spellings = [tokenizer(spelling, add_special_tokens=False)["input_ids"] for spelling in (wanted, f" {wanted}")]
    whole = [ids[0] for ids in spellings if len(ids) == 1]
    found = {token for token in (tokenizer.convert_tokens_to_ids(wanted), *whole) if token is not None}
    found -= {tokenizer.unk_token_id} if wanted != tokenizer.unk_token else set()  # unknown words would all be this one
    if found:
        return int(max(found, key=lambda token: float(logits[token])))
    pieces = tokenizer.convert_ids_to_tokens(spellings[0])
    if len(pieces) > 1 and tokenizer.unk_token not in pieces:
        cut = ", ".join(pieces[:8]) + (", …" if len(pieces) > 8 else "")
        raise BadInputError(
            f"{wanted!r} is {len(pieces)} tokens for {loaded.model_id} ({cut}), and one place holds one. "
            "Name one of these pieces, or another word."
        )
    raise BadInputError(f"{wanted!r} is not in the vocabulary of {loaded.model_id}. Name another word.")


def target_name(loaded: LoadedModel, asked: Question, target: int) -> str:
    """Return the answer as a sentence names it."""
    name = class_name(asked, loaded, target)
    return name.strip() or name


BLOCK_OPERATIONS = 50e9
"""Floating-point operations of one block of work: about 0.7 s of one core. An accelerator takes 50 times as many.

A quarter of it would let others in sooner and take half as long again in all, since a product of few rows uses a core badly.
"""

MOST_ROWS = 64


class Score:
    """f: (n, T, E) word embeddings to n log-odds, ln p/(1 − p), of class `target` at `place`; differentiable.

    Log-odds are the logit against all others: unlike the logit alone they do not move with what all classes share, and
    unlike the probability they do not saturate. embeddings: the text's own, (1, T, E), without position and segment.
    """

    def __init__(self, loaded: LoadedModel, encoded: Encoded, asked: Question, place: int, target: int = 0) -> None:
        self.loaded, self.asked, self.place, self.target = loaded, asked, place, target
        self.tree = private_tree(loaded.model)
        _leave_inference_mode(self.tree)  # before anything is computed with it
        # A clone is no tensor of inference mode.
        self.inputs = {name: tensor.clone().to(loaded.device) for name, tensor in encoded.inputs.items()}
        self.word_embedding: nn.Module = self.tree.get_input_embeddings()
        with torch.no_grad():
            self.embeddings: Tensor = self.word_embedding(self.inputs["input_ids"]).clone()
        self._given: Tensor | None = None
        self.word_embedding.register_forward_hook(self._enter)
        self.single = asked.slug in ("mask", "continue")

    def _enter(self, module: nn.Module, given: Any, output: Tensor) -> Tensor:
        """Return the embeddings to compute with; once in a pass, since GPT-2 looks segments up in the same module
        afterwards.
        """
        entering, self._given = self._given, None
        return output if entering is None else entering

    def answers(self, embeddings: Tensor) -> Tensor:
        """Return logits (n, T, classes); (n, 1, classes) if only one place is asked."""
        self._given = embeddings
        # A view: no copy of the inputs for each row.
        inputs = {name: tensor.expand(len(embeddings), -1) for name, tensor in self.inputs.items()}
        one = head_at(self.tree, torch.tensor([self.place], device=self.loaded.device))
        with one if self.single else nullcontext():  # no scores of the vocabulary at the other places
            return scores(self.asked, self.loaded, self.tree(**inputs)).float()

    def logits(self, embeddings: Tensor) -> Tensor:
        """Return logits (n, classes) at the place."""
        answered = self.answers(embeddings)
        return answered[:, 0 if answered.shape[1] == 1 else self.place]

    def __call__(self, embeddings: Tensor) -> Tensor:
        """Return f, (n,)."""
        return log_odds(self.logits(embeddings), self.target)

    def baseline(self, kind: str, kept: list[bool]) -> Tensor:
        """Return (1, T, E): another embedding at every position that is not kept. kind: mask, pad or zero."""
        replaced = torch.zeros_like(self.embeddings)
        if kind != "zero":
            token_id = getattr(self.loaded.tokenizer, f"{kind}_token_id")
            row: Tensor = self.word_embedding.weight[token_id]  # type: ignore[index]
            replaced = replaced + row.detach()
        stays = torch.tensor(kept, device=replaced.device)[None, :, None]  # (1, T, 1)
        return torch.where(stays, self.embeddings, replaced)


def log_odds(logits: Tensor, target: int) -> Tensor:
    """Return ln p/(1 − p) of one class, (n,), from logits (n, classes): its logit less the log-sum-exp of all others."""
    others = torch.ones(logits.shape[-1], dtype=torch.bool, device=logits.device)
    others[target] = False
    return logits[:, target] - logits[:, others].logsumexp(-1)


def baseline_kind(loaded: LoadedModel, wish: str) -> str:
    """Return mask, pad or zero. Raises BadInputError for a token that the model does not have."""
    tokenizer = loaded.tokenizer
    if wish == "auto":
        return "zero" if tokenizer.mask_token_id is None else "mask"
    if wish != "zero" and getattr(tokenizer, f"{wish}_token_id") is None:
        raise BadInputError(f"{loaded.model_id} has no {wish} token. Take the zero vector as the baseline.")
    return wish


def rows_of_a_block(loaded: LoadedModel, length: int) -> int:
    """Return how many texts of this length one block of work takes, forward and backward.

    It follows from sizes alone, so that all who ask the same share the same blocks.
    """
    config, depth = loaded.model.config, depth_of(loaded.model)
    width = int(config.hidden_size)
    # Of a token: four projections, and the two of the feed-forward net.
    layer = 4 * width * width + 2 * width * neurons_of(loaded.model)
    # Scores and weighted values are quadratic in the length; the head reads one place.
    multiplications = depth * (length * layer + 2 * length * length * width) + width * int(config.vocab_size)
    budget = BLOCK_OPERATIONS * (1 if loaded.device.type == "cpu" else 50)
    # Each is 2 operations forward, and 2 back to the embeddings.
    return max(1, min(MOST_ROWS, int(budget / (4 * multiplications))))


def _leave_inference_mode(tree: nn.Module) -> None:
    """Copy what was loaded in inference mode (an adapter, say): no gradient passes such a tensor."""
    copies: dict[int, Any] = {}
    for module in tree.modules():
        for store in (module._parameters, module._buffers):
            for name, tensor in store.items():
                if tensor is not None and tensor.is_inference():
                    copy = tensor.detach().clone()
                    # By the id: tied tensors stay one.
                    store[name] = copies.setdefault(
                        id(tensor), nn.Parameter(copy, False) if store is module._parameters else copy
                    )
