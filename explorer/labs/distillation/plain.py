"""What the scripts without the package are told about a teacher and a student."""

from __future__ import annotations

from explorer.labs.distillation.schema import BEFORE_BLANK, REST
from explorer.plain import CLASSES_OF, Asked, Plain, architecture_of, as_read, plain_script
from explorer.text import up_to_blank


def soft_targets(asked: Asked) -> str:
    """Make the script; "" for a fine-tuned run, and for a question that the script does not put."""
    question = _question(asked)
    if not question:
        return ""
    targets = asked.result.targets
    values = {
        "QUESTION": question,
        "CLASSES": CLASSES_OF[question],
        "TOP_K": len([target for target in targets if target.name != REST]),
        "TRUTH": next(place for place, target in enumerate(targets) if target.hard),
        **_texts(asked, question),
    }
    return plain_script("soft_targets", lambda _: values)(asked)


def between(name: str) -> Plain:
    """Return the function that makes a script for a teacher and itself with fewer layers.

    It returns "" for runs, for layers that are shared and for a true answer.
    """

    def fill(asked: Asked) -> str:
        question = "" if asked.params.run_student or asked.params.answer else _question(asked)
        family = architecture_of(asked, asked.params.model)
        layout = family.layers if question and family else None
        if layout is None or not layout.path.endswith(".*"):
            return ""
        layers = f"{layout.body}.{layout.path}".removesuffix(".*")
        values = {"QUESTION": question, "LAYERS": layers, **_texts(asked, question)}
        return plain_script(name, lambda _: values)(asked)

    return fill


def _texts(asked: Asked, question: str) -> dict[str, str]:
    """Return the values by which a script reads a text up to its blank, as a model that continues a text does; else {}."""
    texts = up_to_blank(as_read(asked.params.text), as_read(asked.params.second))
    return dict(zip(("TEXT", "SECOND"), texts, strict=True)) if question == "continue" else {}


def _question(asked: Asked) -> str:
    """Return what was asked of a model, by its slug; "" for a run, and if there is no script."""
    from explorer.models.questions import QUESTIONS  # brings torch, which is here by now

    known = {BEFORE_BLANK: "continue", **{entry.title: entry.slug for entry in QUESTIONS}}
    slug = known.get(asked.result.asked, "")
    return slug if slug in CLASSES_OF and not asked.params.run else ""
