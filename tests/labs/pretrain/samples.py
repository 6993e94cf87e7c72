"""Results as the job returns them, made by hand: figures need no model to be tested."""

from __future__ import annotations

from typing import Any

from explorer.labs.pretrain.row import RowResult, RowToken, Segment


def token(position: int, name: str, segment: int = 0, **asked: Any) -> RowToken:
    special = name in ("[CLS]", "[SEP]")
    return RowToken(position, name, segment, **{"shown": name, "fate": "untouched", "special": special, **asked})


def row(name: str = "Paris", **changes: Any) -> RowResult:
    """[CLS] name was [SEP] it rain ##ed [SEP]: one token masked, one random, one kept."""
    tokens = (
        token(0, "[CLS]"),
        token(1, name, shown="[MASK]", fate="mask", probability=0.5, loss=0.6931, guess=name),
        token(2, "was"),
        token(3, "[SEP]"),
        token(4, "it", 1, fate="kept", probability=0.9, loss=0.1054, guess="it"),
        token(5, "rain", 1, shown="piano", fate="random", probability=0.01, loss=4.6052, guess="snow"),
        token(6, "##ed", 1),
        token(7, "[SEP]", 1),
    )
    given: dict[str, Any] = {
        "documents": ((f"{name} was.", "it rained."), ("Bread.",)),
        "a": Segment(0, 0, 1),
        "b": Segment(0, 1, 2),
        "follows": True,
        "tossed": True,
        "room": 128,
        "cut": 0,
        "tokens": tokens,
        "mlm_loss": 1.8012,
        "pair": (0.8, 0.2),
        "nsp_loss": 0.2231,
    }
    return RowResult("bert-mini", **{**given, **changes})
