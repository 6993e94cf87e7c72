"""Pretraining as it goes: one row as BERT read it."""

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.pretrain.row import figures as row_figures
from explorer.labs.pretrain.row.schema import RowParams
from explorer.maths.schemes import SCHEMES
from explorer.plain import Asked, plain_script


def _row_script(asked: Asked) -> str:
    """None by a masking scheme that the scripts don't know."""
    sentences = zip(("SENTENCES_A", "SENTENCES_B"), asked.result.documents, strict=True)
    script = plain_script("pretraining_row", lambda _: dict(sentences), needs="numpy torch transformers")
    return script(asked) if SCHEMES[asked.params.scheme].in_scripts else ""


PRETRAINING_ROW = Action(
    "pretraining_row",
    Job("explorer.labs.pretrain.row.jobs:pretraining_row", on="resources"),
    RowParams,
    row_figures.row_table,
    plain=_row_script,
)

LAB = Lab(
    slug="pretrain",
    title="Training",
    chapter="Pretrain",
    question="How was BERT trained?",
    teaser="One row as BERT read it: two documents become a pair, some of its tokens are hidden, and two losses are added.",
    needs=None,
    actions=(PRETRAINING_ROW,),
    tab="explorer.labs.pretrain.page:build",
)
