"""Results made by hand: short and long, going on and done, with whatever a visitor may type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.labs.attribution.schema import Asked, AttributionResult, Fixed, Part, Progress, TokenView, units_of

WORDS = ("[CLS]", "keys", "to", "the", "cab", "inet", "[MASK]", "[SEP]")
VALUES = (0.0, 4.0, 0.5, -0.25, -0.5, 0.25, 0.0, 0.0)
LENGTHS = (1.0, 9.0, 4.0, 2.0, 5.0, 3.0, 4.5, 1.5)
SHARES = (0.3, 0.1, 0.05, 0.05, 0.1, 0.1, 0.2, 0.1)


def asked(words: tuple[str, ...] = WORDS, **changes: Any) -> Asked:
    tokens = tuple(
        TokenView(place, word, word, word == "inet", word.startswith("["), 0) for place, word in enumerate(words)
    )
    values: dict[str, Any] = {
        "model": "bert-small",
        "fixed": Fixed("The keys", "", "mask", 6, 7, "mask"),
        "answer": "are",
        "is_top": True,
        "places": (6,),
        "tokens": tokens,
        "score": 1.0,
        "baseline_score": -3.0,
        "baseline_token": "[MASK]",
        "rows": 8,
        "depth": 2,
    }
    return Asked(**{**values, **changes})


GRADIENTS = Part("integrated_gradients", VALUES, True, 20, 0.004)
SALIENCY = Part("saliency", LENGTHS, True)
OCCLUSION = Part("occlusion", tuple(-value for value in VALUES), True)
CONDUCTANCE = Part(
    "conductance", (None,) * 8, True, 50, -0.02, layers=(VALUES, (0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 3.5, 0.0))
)
ROLLOUT = Part("rollout", SHARES, True)


def result(*parts: Part, **changes: Any) -> AttributionResult:
    """The parts, and the rollout beside them."""
    what: Asked = changes.pop("asked", None) or asked()
    values = {"by": "tokens", "units": units_of(what.tokens, "tokens"), "parts": (*(parts or (GRADIENTS,)), ROLLOUT)}
    return AttributionResult(what, **{**values, **changes})


def started() -> AttributionResult:
    """Nothing is known yet but what is asked."""
    nothing = (None,) * 8
    parts = (Part("integrated_gradients", nothing), Part("rollout", nothing))
    return replace(result(), parts=parts, progress=Progress("attention rollout", 0, 41))


def hostile(text: str) -> AttributionResult:
    """A text, an answer and a model that would like to be markup."""
    words = ("[CLS]", text, "to", text, "cab", "inet", "[MASK]", "[SEP]")
    what = asked(words, answer=text, model=text, baseline_token=text)
    return result(GRADIENTS, SALIENCY, CONDUCTANCE, asked=what, progress=Progress(text, 1, 2, 3.0))


def long(length: int = 300) -> AttributionResult:
    """A text with more tokens than there are bars; the 250th counts most."""
    words = ("[CLS]", *(f"w{place}" for place in range(1, length - 1)), "[SEP]")
    what = asked(words, fixed=Fixed("long", "", "next", 0, 0, "zero"), places=(0,), baseline_token="")
    values = tuple(5.0 if place == 250 else (place % 7) / 10 for place in range(length))
    shares = tuple(1 / length for _ in range(length))
    layers = (values, values)
    parts = (
        Part("integrated_gradients", values, True, 400, 3.0),
        Part("conductance", (None,) * length, True, 50, 0.1, layers=layers),
        Part("rollout", shares, True),
    )
    return AttributionResult(what, "tokens", units_of(what.tokens, "tokens"), parts)
