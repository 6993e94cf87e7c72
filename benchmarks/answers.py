"""`python -m benchmarks.answers record FILE | compare FILE`: what every action answers, held against what it answered before.

A rebuild must not change a number. `record` asks every action by its defaults and some of them otherwise, and keeps the
tables; `compare` asks again and prints where the answers differ.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_ROWS = 400
"""Of a longer table so many rows are kept, evenly."""
CLOCKED = ("second", "millisecond", " ms", "time", "speed", "faster", "run", "address")
"""Columns whose headings contain one of these are measured by the clock or name a new run."""
RELATIVE, ABSOLUTE = 1e-3, 1e-5

SMALL_RUN = {"examples": 64, "epochs": 1}
TEXT = "The keys to the cabinet [MASK] on the table, and nobody knows why."
PLAIN_TEXT = "The unbelievable orchestra played Tchaikovsky in Sydney, and the audience was delighted."
STORY = "The ship left at dawn. By noon a strong wind blew. The captain took in the sails. They worked until dark."
PAIR = {"sentence_a": "The cat sat on the mat.", "sentence_b": "It was asleep."}
ASKED: dict[str, list[dict[str, Any]]] = {
    "train": [
        {"model": "bert-mini", **SMALL_RUN},
        {"model": "bert-mini", "method": "bitfit", "task": "mrpc", **SMALL_RUN},
    ],
    "task_card": [{}, {"task": "mrpc"}],
    "fill_masks": [{"model": name} for name in ("bert-mini", "roberta-mini", "albert-mini", "distilbert-mini")],
    "tokenize": [{"text": PLAIN_TEXT}],
    "published_figures": [{}, {"paper": "lora"}],
    "cut_word": [{"word": "unbelievable"}],
    "typos": [{"text": PLAIN_TEXT}, {"text": PLAIN_TEXT, "typed": "The unbeleivable orchestra played in Sydney."}],
    "embedding_parts": [{"model": name, **PAIR} for name in ("bert-small", "albert-mini", "gpt2-mini")],
    "token_parts": [PAIR],
    "corrupt": [{"text": PLAIN_TEXT}, {"text": PLAIN_TEXT, "scheme": "whole_word", "seed": 3}],
    "count_fates": [{"text": PLAIN_TEXT}],
    "draw_epochs": [{"text": PLAIN_TEXT}],
    "replaced_tokens": [{"model": "electra-mini-discriminator", "text": PLAIN_TEXT}],
    "replaced_by_hand": [{"model": "electra-mini-discriminator", "text": PLAIN_TEXT, "shown": "The table."}],
    "replaced_draws": [{"model": "electra-mini-discriminator", "text": PLAIN_TEXT}],
    "continue_text": [
        {"model": "gpt2-mini"},
        {"model": "gpt2-mini", "text": PLAIN_TEXT, "seed": 3, "temperature": 1.5},
    ],
    "next_token": [{"model": "gpt2-mini"}, {"model": "gpt2-mini", "text": PLAIN_TEXT, "k": 5}],
    "generate": [{"model": "gpt2-mini"}, {"model": "gpt2-mini", "run": "", "seed": 3}],
    "pretraining_row": [{}, {"model": "bert-mini", "document_a": STORY, "next": "elsewhere", "rate": 0.4, "seed": 3}],
    "score_sentences": [{}, {"sentences": PLAIN_TEXT, "masking": "token"}, {"model": "gpt2-mini"}],
    "fill_several": [{}, {"text": "The [MASK] [MASK] in the [MASK].", "steps": 3}],
    "swap_word": [{}, {"model": "roberta-mini", "top_k": 3}],
    "score_minimal_pairs": [{}, {"model": "gpt2-mini"}],
    "masking_rates": [{}, {"models": "roberta-mini", "text": PLAIN_TEXT}],
    "score_pair": [PAIR, {"model": "bert-mini", **PAIR}],
    "score_all_pairs": [{"text": STORY}],
    "score_order": [{"model": "albert-mini", "first": PAIR["sentence_a"], "second": PAIR["sentence_b"]}],
    "score_kinds": [{"text": STORY, "other_text": PLAIN_TEXT + " Bread is made of flour. Penguins cannot fly."}],
    "contextual_similarity": [{"sentences": "He sat on the bank.\nThe bank lent him money.", "word": "bank"}],
    "logit_lens": [{"text": TEXT}, {"model": "gpt2-mini", "text": TEXT}],
    "attention": [PAIR, {"model": "gpt2-mini", "sentence_a": PAIR["sentence_a"]}],
    "head_statistics": [PAIR, {"model": "albert-mini", **PAIR}],
    "ablate_heads": [{"text": TEXT, "heads": "0.1, 2.3"}],
    "ablate_each_head": [{"text": TEXT}],
    "attention_view": [PAIR],
    "query_key": [PAIR],
    "disentangled_terms": [{"model": "deberta-mini", **PAIR}],
    "relative_positions": [{"model": "deberta-mini", "length": 512}],
    "soft_targets": [{}, {"temperature": 8.0}],
    "importance": [{}, {"model": "bert-mini", "examples": 32}],
    "attribute": [{"text": TEXT}, {"model": "gpt2-mini", "text": "The capital of France is"}],
    "answer_question": [{}, {"question": "What did the bridge cost?"}],
    "latency": [{"model": "bert-mini", "length": 32, "repeats": 2}],
    "swap_runs": [{"runs": ("example-lora-8", "example-lora-2"), "sentence_a": PLAIN_TEXT}],
    "forgetting": [{"runs": ("example-lora-8", "example-bitfit")}],
    "take_metrics_apart": [{"matrix": ((40, 10), (5, 45))}],
    "correlate": [{"points": ((1.0, 1.2), (2.0, 1.9), (3.0, 3.4), (5.0, 4.1))}],
    "family": [{}],
    "score_texts": [{"hypotheses": PLAIN_TEXT, "references": PLAIN_TEXT}],
    "score_parts": [{"hypotheses": PLAIN_TEXT, "references": PLAIN_TEXT}],
}
"""Questions beside the defaults: where an action is named, these are asked in place of the defaults alone."""
SKIPPED = (
    "compare_methods",
    "sweep_ranks",
    "sweep",
    "ablate_distillation",
    "compare_amplification",
    "train_intruders",
    "distill",
    "adapt_writer",
)
"""They start many runs, or long ones."""


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every action with what it is asked."""
    from explorer.labs import LABS

    for lab in LABS:
        for action in lab.actions:
            if action.name not in SKIPPED:
                for given in ASKED.get(action.name, [{}]):
                    yield action.name, given


def answer(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Headings and rows as JSON holds them, or the error's sentence."""
    import explorer
    from explorer.errors import ExplorerError

    try:
        table = explorer.run(name, **given).table
    except ExplorerError as error:
        return {"error": str(error)}
    step = max(1, math.ceil(len(table.rows) / MOST_ROWS))
    kept = [list(row) for row in list(table.rows)[::step]]
    found: dict[str, Any] = json.loads(
        json.dumps({"headers": list(table.columns), "count": len(table.rows), "rows": kept})
    )
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """What differs between two answers, a line each."""
    for key in ("error", "headers", "count"):
        if before.get(key) != after.get(key):
            yield f"{key}: {before.get(key)} became {after.get(key)}"
            return
    clocked = [any(word in str(header).lower() for word in CLOCKED) for header in before.get("headers", [])]
    for number, (old, new) in enumerate(zip(before.get("rows", []), after.get("rows", []), strict=True)):
        for header, skip, one, other in zip(before["headers"], clocked, old, new, strict=True):
            if not skip and not _alike(one, other):
                yield f"row {number}, {header}: {one} became {other}"


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return bool(one == other)


def main() -> None:
    """Record or compare; the runs it trains are in a folder that goes away."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    chosen = parser.parse_args()
    known = json.loads(chosen.file.read_text(encoding="utf-8")) if chosen.file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        import os

        os.environ["EXPLORER_DATA"] = folder
        for name, given in questions():
            key = f"{name} {json.dumps(given)}"
            try:
                found = answer(name, given)
            except Exception:  # one broken action must not hide the others
                found = {"error": traceback.format_exc(limit=-3)}
            lines = [] if chosen.command == "record" else list(differences(known.get(key, {}), found))[:5]
            known[key] = found if chosen.command == "record" else known.get(key)
            print(key, found.get("count", found.get("error")), *lines, sep="\n    ", flush=True)
    if chosen.command == "record":
        chosen.file.write_text(json.dumps(known), encoding="utf-8")


if __name__ == "__main__":
    main()
