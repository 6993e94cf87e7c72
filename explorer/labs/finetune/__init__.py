"""Fine-tuning: the same task learned by training all of the model, or very little of it."""

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.finetune import compare_figures, figures, plain
from explorer.labs.finetune import spans as span_figures
from explorer.labs.finetune import use_figures as try_figures
from explorer.labs.finetune.card import CARD
from explorer.labs.finetune.glue import GLUE
from explorer.labs.finetune.latency import LATENCY
from explorer.labs.finetune.live import require_success
from explorer.labs.finetune.memory import MEMORY
from explorer.labs.finetune.metrics import CORRELATE, TAKE_APART
from explorer.labs.finetune.schema import (
    CompareParams,
    ExportParams,
    FollowParams,
    MergeParams,
    MergeResult,
    PlanParams,
    PredictRunParams,
    RunsParams,
    SwapParams,
)
from explorer.labs.finetune.spans import AnswerParams
from explorer.labs.finetune.sweep import SWEEP
from explorer.runs.report import run_table
from explorer.tuning.spec import RunSpec
from explorer.worked import Opening

_COMPUTE = "explorer.labs.finetune.jobs"
_LIVE = "explorer.labs.finetune.live"

TRAIN = LiveAction(f"{_LIVE}:train", RunSpec, run_table, require_success)
FOLLOW = LiveAction(f"{_LIVE}:follow_run", FollowParams, run_table, require_success)
RUNS = LiveAction(f"{_LIVE}:runs", RunsParams, compare_figures.compared_table)
COMPARE = LiveAction(f"{_LIVE}:compare_methods", CompareParams, compare_figures.compared_table)
PLAN = Action(Job(f"{_COMPUTE}:plan_run"), PlanParams, figures.plan_table)
PREDICT = Action(
    Job(f"{_COMPUTE}:predict_run", on="runs"), PredictRunParams, try_figures.prediction_table, plain=plain.predict_run
)
ANSWER = Action(
    Job("explorer.labs.finetune.spans_jobs:answer_question", on="runs"),
    AnswerParams,
    span_figures.answer_table,
    plain=plain.answer_question,
)
SWAP = Action(Job(f"{_COMPUTE}:swap_runs", on="runs"), SwapParams, try_figures.swap_table, plain=plain.swap_runs)
MERGE = Action(
    Job(f"{_COMPUTE}:merge_check", on="runs"),
    MergeParams,
    try_figures.merge_table,
    plain=plain.merge_check,
    openings=(Opening(MergeParams(), MergeResult),),
)
EXPORT = Action(Job(f"{_COMPUTE}:export_run", on="runs"), ExportParams, try_figures.export_table)

LAB = Lab(
    slug="finetune",
    title="Fine-tune",
    chapter="Adapt",
    question="How little of BERT must change?",
    teaser="Train LoRA live beside every other way to fine-tune, then try, swap, merge and take home the result.",
    needs=None,
    reads=Reads("sentence_a", "whole", "try"),
    actions=(
        TRAIN,
        FOLLOW,
        RUNS,
        GLUE,
        COMPARE,
        PLAN,
        CARD,
        PREDICT,
        ANSWER,
        SWAP,
        MERGE,
        EXPORT,
        MEMORY,
        LATENCY,
        SWEEP,
        TAKE_APART,
        CORRELATE,
    ),
    tab="explorer.labs.finetune.page:build",
)
