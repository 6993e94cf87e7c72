"""From process start to first page: this app against one Gradio textbox and the import of torch and transformers."""

from __future__ import annotations

from statistics import median

from benchmarks.serving import served

BASELINE = """
import gradio as gr, torch, transformers
transformers.AutoModelForMaskedLM, transformers.AutoTokenizer
with gr.Blocks() as app:
    gr.Textbox()
app.launch()
"""
RUNS = 5


def measure(runs: int = RUNS) -> str:
    """Alternate the two and compare their medians, in seconds."""
    ours, theirs = [], []
    for _ in range(runs):
        with served("app.py") as (_, seconds):
            ours.append(seconds)
        with served("-c", BASELINE) as (_, seconds):
            theirs.append(seconds)
    ratio = median(ours) / median(theirs)
    return f"start: {median(ours):.2f} s against {median(theirs):.2f} s, ratio {ratio:.2f} (wanted: at most 1.3)"
