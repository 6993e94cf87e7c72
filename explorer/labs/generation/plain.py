"""What the script without the package is told of a run that writes."""

from __future__ import annotations

from explorer.plain import Asked, plain_script, trained_values
from explorer.tasks.formats.e2e import ASKS


def generate(asked: Asked) -> str:
    """Make the script, without the slots that are missed.

    Return "" for methods that peft has no name for or that start elsewhere than at W.
    """
    values = {"ASKS": ASKS, "WEIGHTS": "", "UNTOUCHED": asked.params.model}
    if asked.params.run:
        record = asked.engine.runs.get(asked.params.run)
        trained = trained_values(asked, record)
        if not trained:
            return ""
        values |= {**trained, "NAME": record.short_name, "UNTOUCHED": record.spec.model}
    return plain_script("generate", lambda _: values, "torch transformers peft")(asked)
