"""Sentence pairs: next-sentence prediction, BERT's second pretraining task."""

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.pairs import figures
from explorer.labs.pairs import order as order_figures
from explorer.labs.pairs.ablations import WITHOUT_HEAD
from explorer.labs.pairs.order import KindsParams, OrderParams
from explorer.labs.pairs.schema import AllPairsParams, PairParams
from explorer.models.families import Capability
from explorer.plain import Asked, plain_script
from explorer.text import checked_text, split_sentences

_COMPUTE = "explorer.labs.pairs.jobs"
_ORDER = "explorer.labs.pairs.jobs"


def _both_texts(asked: Asked) -> dict[str, object]:
    """Return both texts as the sentences that they were split into."""
    texts = {"SENTENCES": asked.params.text, "OTHERS": asked.params.other_text}
    split = {name: tuple(split_sentences(checked_text(text))) for name, text in texts.items()}
    return {**split, "HEAD": asked.result.head}


SCORE_PAIR = Action(
    Job(f"{_COMPUTE}:score_pair", Capability.NSP, together=f"{_COMPUTE}:score_pairs_together"),
    PairParams,
    figures.pair_table,
    plain=plain_script("score_pair"),
)
SCORE_ALL_PAIRS = Action(
    Job(f"{_COMPUTE}:score_all_pairs", Capability.NSP),
    AllPairsParams,
    figures.all_pairs_table,
    plain=plain_script("score_all_pairs", lambda asked: {"SENTENCES": asked.result.sentences}),
)
SCORE_ORDER = Action(
    Job(f"{_ORDER}:score_order", Capability.SOP),
    OrderParams,
    order_figures.order_table,
    plain=plain_script("score_order"),
)
SCORE_KINDS = Action(
    Job(f"{_ORDER}:score_kinds"), KindsParams, order_figures.kinds_table, plain=plain_script("score_kinds", _both_texts)
)

LAB = Lab(
    slug="pairs",
    title="Pairs",
    chapter="Learn",
    question="Does the second sentence follow the first?",
    teaser="Score whether one sentence follows another, and whether two stand in their order; see the segments that BERT reads.",
    needs=Capability.NSP,
    actions=(SCORE_PAIR, SCORE_ALL_PAIRS, SCORE_ORDER, SCORE_KINDS),
    tab="explorer.labs.pairs.page:build",
    without_head=WITHOUT_HEAD,
)
