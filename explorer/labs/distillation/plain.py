"""What the scripts without the package are told about a teacher and a student."""

from __future__ import annotations

from explorer.labs.distillation.schema import REST
from explorer.labs.plain import CLASSES_OF, Asked, Plain, architecture_of, plain_script


def soft_targets(asked: Asked) -> str:
    """None for a fine-tuned run, and for a question that the script does not put."""
    question = _question(asked)
    if not question:
        return ""
    named = len([target for target in asked.result.targets if target.name != REST])
    values = {"QUESTION": question, "CLASSES": CLASSES_OF[question], "TOP_K": named}
    return plain_script("soft_targets", lambda _: values)(asked)


def between(name: str) -> Plain:
    """A script for a teacher and itself with fewer layers; none for runs and for layers that are shared."""

    def fill(asked: Asked) -> str:
        question = "" if asked.params.run_student else _question(asked)
        family = architecture_of(asked, asked.params.model)
        layout = family.layers if question and family else None
        if layout is None or not layout.path.endswith(".*"):
            return ""
        layers = f"{layout.body}.{layout.path}".removesuffix(".*")
        return plain_script(name, lambda _: {"QUESTION": question, "LAYERS": layers})(asked)

    return fill


def _question(asked: Asked) -> str:
    """What was asked of a model, by its slug; empty for a run, and where there is no script."""
    from explorer.models.questions import QUESTIONS  # brings torch, which is here by now

    slug = {entry.title: entry.slug for entry in QUESTIONS}.get(asked.result.asked, "")
    return slug if slug in CLASSES_OF and not asked.params.run else ""
