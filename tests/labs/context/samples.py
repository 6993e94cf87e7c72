"""Results made by hand, for the figures."""

from __future__ import annotations

from explorer.labs.context.lens import Guess, LayerReading, LensResult, LensToken, Place, Standing
from explorer.labs.context.word import STATIC, ContextResult, LayerView, Occurrence, Projection


def context_result(
    senses: tuple[str | None, ...] = ("river", "river", "money"),
    depth: int = 2,
    text: str = "the bank here",
    pieces: tuple[str, ...] = ("bank",),
    one_vector: bool = True,
    times: int = 1,
    unknown: bool = False,
    adds_positions: bool = True,
) -> ContextResult:
    """Pairs of the same sense stay at 0.9; others fall to 0.9 - 0.2 a layer; the baseline rises by 0.1 a layer."""
    count = len(senses)

    def cosine(layer: int, i: int, j: int) -> float:
        if i == j or layer <= 0:
            return 1.0
        return 0.9 if senses[i] == senses[j] and senses[i] is not None else 0.9 - 0.2 * layer - 0.01 * (i + j)

    views = []
    for layer in range(STATIC, depth + 1):
        rows = tuple(tuple(cosine(layer, i, j) for j in range(count)) for i in range(count))
        flat = layer <= 0
        points = tuple((0.0, 0.0) if flat else (float(k), float(layer * k % 3)) for k in range(count))
        shares = (0.0, 0.0) if flat else (0.6, 0.3)
        base = 0.1 * (layer + 1)
        views.append(LayerView(layer, rows, base, (base - 0.1, base + 0.1), Projection(points, shares)))
    start = text.index("bank")
    entries = tuple(
        Occurrence(number, text, sense, start, start + 4, pieces, unknown, times)
        for number, sense in enumerate(senses, start=1)
    )
    return ContextResult("bert-small", "bank", entries, tuple(views), 1000, 170, 12, one_vector, adds_positions)


def lens_place(
    position: int = 2, answer: str = "are", ranks: tuple[int, ...] = (9, 3, 1), follow: bool = True, top_k: int = 4
) -> Place:
    """`is` is followed; its rank is one behind the answer's, or before it where that is not the first."""
    layers = []
    for layer, rank in enumerate(ranks):
        behind = rank + 1 if rank == 1 else rank - 1
        names = {rank: answer, behind: "is"}
        guesses = tuple(Guess(place, names.get(place, f"token {place}"), 0.5 / place) for place in range(1, top_k + 1))
        followed = Standing(behind, 0.5 / behind) if follow else None
        divergence = float(len(ranks) - 1 - layer) ** 2
        layers.append(LayerReading(layer, guesses, Standing(rank, 0.5 / rank), followed, divergence))
    return Place(position, answer, tuple(layers))


def lens_result(
    places: tuple[Place, ...] | None = None,
    asked: str = "mask",
    text: str = "keys",
    follow: str | None = "is",
    cut: bool = False,
    refused: str = "",
    top_k: int = 4,
) -> LensResult:
    chosen = (lens_place(),) if places is None else places
    asked_at = {place.position for place in chosen}
    names = ["[CLS]", text, "[MASK]", "here", "[SEP]"]
    tokens = tuple(
        LensToken(number, name, name, False, name.startswith("["), number in asked_at)
        for number, name in enumerate(names)
    )
    return LensResult("bert-small", asked, cut, top_k, follow, refused, 28996, tokens, chosen)
