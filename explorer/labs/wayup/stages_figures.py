"""The nine stages of a text's way through a model, a sentence each, with the model's own numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

from explorer.charts.words import percent
from explorer.labs.wayup.schema import PassResult


@dataclass(frozen=True)
class Stage:
    """One stage. to: the page and tab that has more of it."""

    title: str
    says: Callable[[PassResult], str]
    to: str


def _pieces(result: PassResult) -> str:
    joined = sum(token.joined for token in result.tokens)
    cut = f", {joined} of which continue the piece before" if joined else ""
    return f"The text is {len(result.tokens)} tokens{cut}, out of a vocabulary of {result.build.vocabulary:,}."


def _sum(result: PassResult) -> str:
    kinds = [kind for kind, _ in result.added if kind in ("token", "segment", "position")]
    if len(kinds) == 1:
        return f"Each token becomes the {kinds[0]}'s vector of {result.build.width} numbers."
    named = f"{', '.join(kinds[:-1])} and {kinds[-1]}"
    return f"Each token becomes a vector of {result.build.width} numbers: {named} added up."


def _ask(result: PassResult) -> str:
    build = result.build
    return (
        f"Each of {build.heads} heads makes of every state a query, a key and a value of {build.size} numbers; "
        "a score is the product of a query and a key."
    )


def _look(result: PassResult) -> str:
    causal = " It sees none that comes later." if result.build.causal else ""
    return f"A softmax makes each row of scores add up to 100%: so much the token takes from each.{causal}"


def _join(result: PassResult) -> str:
    build = result.build
    return (
        f"The values, weighed so, are each head's answer; {build.heads} answers beside each other, "
        f"multiplied by W_O, are {build.width} numbers again."
    )


def _first_sum(result: PassResult) -> str:
    norm = "the norm comes later" if result.build.norm_first else f"a {result.build.norm} scales the sum"
    return f"What attention says is added to the state, which is why nothing is lost on the way; {norm}."


def _net(result: PassResult) -> str:
    build = result.build
    times = build.inner / build.width
    return (
        f"The feed-forward net widens each state {times:g} times, to {build.inner:,} numbers, "
        f"lets {build.activation} pass some of them, and narrows it again: each token by itself."
    )


def _second_sum(result: PassResult) -> str:
    build = result.build
    again = (
        f"the same layer is used {build.depth} times"
        if build.shared
        else f"{build.depth} layers do so, one on the other"
    )
    return f"That is added as well, and the next layer reads the sum; {again}."


def _head(result: PassResult) -> str:
    last = result.rungs[-1].guesses[0]
    if result.asked == "replaced":
        return f"The head asks of each state whether the token was replaced; here “{last.token}” has {percent(last.probability)}."
    return (
        f"The head turns the last state into a probability for each of {result.build.vocabulary:,} tokens; "
        f"“{last.token.strip()}” has {percent(last.probability)}."
    )


STAGES = (
    Stage("Pieces", _pieces, "inputs"),
    Stage("Sum of embeddings", _sum, "inputs#tab=sum"),
    Stage("Queries and keys", _ask, "attention#tab=neurons"),
    Stage("Softmax", _look, "attention"),
    Stage("Heads joined", _join, "attention#tab=all"),
    Stage("Added", _first_sum, "attention#tab=layer"),
    Stage("Feed-forward", _net, "attention#tab=layer"),
    Stage("Added again", _second_sum, "context#tab=lens"),
    Stage("Head", _head, "masking"),
)
"""From the words to the guess."""


def stages(result: PassResult) -> list[dict[str, str]]:
    """Return each stage's title, sentence and the address of what has more of it, with the same sentence."""
    return [{"title": stage.title, "says": stage.says(result), "to": address(result, stage.to)} for stage in STAGES]


def address(result: PassResult, to: str) -> str:
    """Return a page's address with this sentence, as that page reads one, this model, and the opened layer and its head."""
    page, _, fragment = to.partition("#")
    given = {"tab": fragment.removeprefix("tab=")} if fragment else {}
    given["model"] = result.model
    if page == "attention" and given.get("tab") != "layer":
        given["sentence_a"] = result.text
        if result.opened is not None and given.get("tab") != "all":
            given |= {"layer": str(result.opened.layer), "head": str(result.opened.head)}
    elif page == "masking":
        given |= {"text": result.text, "also_mask": _hidden(result)}
    elif page == "context":
        given["text"] = _masked(result)
    elif page == "inputs":
        given["sentence_a" if given.get("tab") == "sum" else "text"] = result.text
    return f"{page}#{urlencode({name: value for name, value in given.items() if value})}"


def _hidden(result: PassResult) -> str:
    return ", ".join(str(token.position) for token in result.tokens if token.state == "masked")


def _masked(result: PassResult) -> str:
    """Return the text with [MASK] for each hidden token."""
    text = result.text
    for token in sorted(result.tokens, key=lambda one: -one.start):
        if token.state == "masked":
            text = f"{text[: token.start]}[MASK]{text[token.stop :]}"
    return text
