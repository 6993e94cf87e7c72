"""The kinds of tasks that a run can learn, one file each; to add one, add its file and its name here."""

from importlib import import_module

from explorer.tasks.task import CLASSES
from explorer.tuning.kinds.kind import Kind
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec

__all__ = ["KINDS", "Kind", "find_kind", "kind_of", "learning_rate", "usual_rate"]

KINDS: dict[str, Kind] = {
    kind.slug: kind
    for kind in (import_module(f"{__name__}.{name}").KIND for name in ("classes", "masked", "written", "span"))
}


def find_kind(slug: str) -> Kind:
    """A kind by its name; that of classes and scores for a record that is older than kinds."""
    return KINDS.get(slug) or KINDS[CLASSES]


def kind_of(method: str, slug: str) -> Kind:
    """What a run learns: a method that fills masks decides it, else its task."""
    return KINDS["masked"] if find_method(method).fills_masks else find_kind(slug)


def learning_rate(spec: RunSpec, kind: Kind) -> float:
    """What a run trains with: its own rate, else the usual one."""
    return spec.learning_rate or usual_rate(spec.method, kind)


def usual_rate(method: str, kind: Kind) -> float:
    """What suits the kind of task, else the method's."""
    return kind.rates.get(method) or find_method(method).learning_rate
