"""Pretraining as it goes: one row as BERT read it, and a small model from nothing."""

from explorer.action import Action, Lab, LiveAction
from explorer.engine.protocol import Job
from explorer.labs.pretrain import row_figures as row_figures
from explorer.labs.pretrain import train_figures as train_figures
from explorer.labs.pretrain.row import RowParams
from explorer.labs.pretrain.train import FollowPretrainingParams, PretrainParams, TakeHomeParams
from explorer.maths.schemes import SCHEMES
from explorer.plain import Asked, plain_script
from explorer.runs.comparing import require_success
from explorer.tables import Table

_LIVE = "explorer.labs.pretrain.train"


def _row_script(asked: Asked) -> str:
    """Make the script; "" for a masking scheme that the scripts don't know."""
    sentences = zip(("SENTENCES_A", "SENTENCES_B"), asked.result.documents, strict=True)
    script = plain_script("pretraining_row", lambda _: dict(sentences), needs="numpy torch transformers")
    return script(asked) if SCHEMES[asked.params.scheme].in_scripts else ""


def _file(path: str) -> Table:
    """file: where it was written."""
    return Table.of(("file",), [(path,)])


PRETRAINING_ROW = Action(
    Job("explorer.labs.pretrain.row_jobs:pretraining_row", on="resources"),
    RowParams,
    row_figures.row_table,
    plain=_row_script,
)
PRETRAIN = LiveAction(f"{_LIVE}:pretrain", PretrainParams, train_figures.pretrain_table, require_success)
FOLLOW_PRETRAINING = LiveAction(
    f"{_LIVE}:follow_pretraining", FollowPretrainingParams, train_figures.pretrain_table, require_success
)
TAKE_HOME = Action(Job("explorer.labs.pretrain.train_jobs:pretrained_model", on="runs"), TakeHomeParams, _file)

LAB = Lab(
    slug="pretrain",
    title="Pretrain",
    chapter="Learn",
    question="How was BERT trained?",
    teaser="One row as BERT read it, and a small BERT that learns from nothing before your eyes: losses, and first words.",
    needs=None,
    actions=(PRETRAINING_ROW, PRETRAIN, FOLLOW_PRETRAINING, TAKE_HOME),
    tab="explorer.labs.pretrain.page:build",
)
