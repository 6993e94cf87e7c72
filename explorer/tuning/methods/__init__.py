"""The fine-tuning methods, one file each: what a page says of it, how it is put on a model, and everything peculiar to it."""

from importlib import import_module

from explorer.errors import BadInputError
from explorer.tuning.methods.method import Method
from explorer.tuning.methods.scratch import METHOD as SCRATCH
from explorer.tuning.methods.student import METHOD as STUDENT
from explorer.tuning.methods.text_student import METHOD as TEXT_STUDENT

__all__ = ["METHODS", "SCRATCH", "STUDENT", "TEXT_STUDENT", "Method", "find_method"]

METHODS: tuple[Method, ...] = tuple(
    import_module(f"{__name__}.{name}").METHOD
    for name in ("full", "head", "bitfit", "lora", "prompt", "prefix", "houlsby", "pfeiffer", "ia3")
)
"""The methods in the order of the page's list. To add one, add its file, and its name here."""


def find_method(slug: str) -> Method:
    """Return a method by its name. Raises BadInputError, naming the methods there are."""
    found = {method.slug: method for method in (*METHODS, STUDENT, TEXT_STUDENT, SCRATCH)}.get(slug)
    if found is None:
        raise BadInputError(f"There is no method {slug!r}. Take one of {', '.join(method.slug for method in METHODS)}.")
    return found
