"""What the scripts without the package are told about a fine-tuned run."""

from __future__ import annotations

from explorer.plain import Asked, is_lora, plain_script, run_values, trained_values

_NEEDS = "torch transformers peft"


def predict_run(asked: Asked) -> str:
    """Make the script; "" for a regression and for methods that peft has no name for or that start elsewhere than at W."""
    record = asked.engine.runs.get(asked.params.run)
    values = run_values(asked, record)
    if not values:
        return ""
    values["SENTENCE_B"] = asked.params.sentence_b if len(record.columns) == 2 else ""
    return plain_script("predict_run", lambda _: values, _NEEDS)(asked)


def answer_question(asked: Asked) -> str:
    """Make the script; "" for methods that peft has no name for or that start elsewhere than at W."""
    values = trained_values(asked, asked.engine.runs.get(asked.params.run))
    return plain_script("answer_question", lambda _: values, _NEEDS)(asked) if values else ""


def merge_check(asked: Asked) -> str:
    """Make the script for LoRA's runs alone, on sentences of its own."""
    record = asked.engine.runs.get(asked.params.run)
    values = run_values(asked, record) if is_lora(record) else {}
    if not values:
        return ""
    texts = (("A film that one remembers.", "One remembers it."), ("Nothing in it works.", "It rained."))
    values["TEXTS"] = tuple(text[: max(1, len(record.columns))] for text in texts)
    return plain_script("merge_check", lambda _: values, _NEEDS)(asked)


def swap_runs(asked: Asked) -> str:
    """Make the script for LoRA's runs of the same classes; without DoRA, whose norms peft does not mix in a batch."""
    records = [asked.engine.runs.get(run) for run in dict.fromkeys(asked.params.runs)]
    values = [run_values(asked, record) if is_lora(record) else {} for record in records]
    if not all(values) or any(each["DORA"] or each["LABELS"] != values[0]["LABELS"] for each in values):
        return ""
    told = ("WEIGHTS", "RANK", "ALPHA", "RSLORA", "TARGETS")
    runs = tuple((record.name, *(each[name] for name in told)) for record, each in zip(records, values, strict=True))
    second = asked.params.sentence_b if len(records[0].columns) == 2 else ""
    given = {"MODEL": values[0]["MODEL"], "LABELS": values[0]["LABELS"], "RUNS": runs, "SENTENCE_B": second}
    return plain_script("swap_runs", lambda _: given, _NEEDS)(asked)
