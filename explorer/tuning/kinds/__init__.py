"""The kinds of tasks that a run can learn, one file each. To add one, add its file, and its name here."""

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
    """Return a kind by its name; the one of classes and scores for a record that is older than kinds."""
    return KINDS.get(slug) or KINDS[CLASSES]


def kind_of(method: str, slug: str) -> Kind:
    """Return the kind that a run learns: its task's, unless its method fills masks."""
    return KINDS["masked"] if find_method(method).fills_masks else find_kind(slug)


def learning_rate(spec: RunSpec, kind: Kind) -> float:
    """Return a run's own learning rate, else the usual one."""
    return spec.learning_rate or usual_rate(spec.method, kind)


def usual_rate(method: str, kind: Kind) -> float:
    """Return the learning rate that suits the kind of task, else the method's."""
    return kind.rates.get(method) or find_method(method).learning_rate
