"""The fine-tuning page: train, try, compare, sweep, merge, and take the metrics apart."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune.compare_page import build_compare
from explorer.labs.finetune.glue_page import build_glue
from explorer.labs.finetune.latency_page import build_latency
from explorer.labs.finetune.memory_page import build_memory
from explorer.labs.finetune.merge_page import build_merge
from explorer.labs.finetune.metrics_page import build_metrics
from explorer.labs.finetune.runs_page import build_runs
from explorer.labs.finetune.sweep_page import build_sweep
from explorer.labs.finetune.train_page import build_train
from explorer.labs.finetune.use_page import build_try
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def build(page: Page) -> None:
    """Lay out one choice of a run above, and a tab for each thing to do with it."""
    picker = RunPicker(page, accept=lambda record: not record.from_nothing, needs="runs that were fine-tuned")
    # Each is a button of some tab, and an endpoint.
    for verb in ("stop", "resume", "delete"):
        picker.publish(verb)
    with gr.Tabs():
        with gr.Tab("Train", id="train"):
            following, after = build_train(page, picker)
        with gr.Tab("Try it", id="try") as trying:
            swap_runs = build_try(page, picker, trying)
        with gr.Tab("Compare all", id="compare") as compare:
            build_compare(page, picker, compare)
        with gr.Tab("Sweep", id="sweep") as sweep:
            build_sweep(page, picker, sweep)
        with gr.Tab("Runs", id="runs") as runs:
            build_runs(page, picker, runs)
        with gr.Tab("GLUE", id="glue") as glue:
            build_glue(page, picker, glue)
        with gr.Tab("Merge and take home", id="merge") as merging:
            build_merge(page, picker, merging)
        with gr.Tab("Memory", id="memory") as memory:
            build_memory(page, picker, memory)
        with gr.Tab("Time of a batch", id="time") as time:
            build_latency(page, time)
        with gr.Tab("Metrics", id="metrics") as metrics:
            build_metrics(page, metrics)
    following.on(picker.wire(swap_runs, after))
