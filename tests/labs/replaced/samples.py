"""Results as the jobs return them, made by hand: figures need no model to be tested."""

from __future__ import annotations

from explorer.labs.replaced.schema import DrawsResult, JudgedToken, ReplacedResult


def token(
    position: int, shown: str, original: str = "", *, probability: float = 0.1, chosen: bool = False
) -> JudgedToken:
    """A token that was replaced where an original is given, of which the generator holds 1 in e^2."""
    was, replaced = original or shown, bool(original)
    scored = {"chosen": True, "surprisal": 2.0, "drawn": 0.25} if chosen else {}
    return JudgedToken(position, was, shown, was, shown, False, replaced, probability, 0.5, **scored)


def typical(name: str = "Paris") -> ReplacedResult:
    """A hit, a miss, a false alarm, a guess, and a token that is left in peace."""
    return ReplacedResult(
        "electra-mini-discriminator",
        "electra-mini-generator",
        (
            token(1, "piano", name, probability=0.9, chosen=True),
            token(2, "is", "was", probability=0.2, chosen=True),
            token(3, name, probability=0.7),
            token(4, "the", probability=0.1, chosen=True),
            token(5, "."),
        ),
    )


def by_hand(*tokens: JudgedToken, left_out: int = 0) -> ReplacedResult:
    return ReplacedResult("electra-mini-discriminator", "", tokens, left_out)


def draws_result(draws: int = 2, auc: float | None = 0.75) -> DrawsResult:
    return DrawsResult(
        model="electra-mini-discriminator",
        generator="electra-mini-generator",
        draws=draws,
        of=2,
        tokens=20,
        chosen=4,
        replaced=3 if auc else 0,
        auc=auc,
        aucs=(0.5, 1.0) if auc else (None, None),
        thresholds=(0.9, 0.6, 0.1),
        hits=(0.5, 0.5, 1.0),
        false_alarms=(0.0, 0.25, 1.0),
        at_half=(0.5, 0.25),
        loss=0.3,
        masked_loss=4.0,
    )
