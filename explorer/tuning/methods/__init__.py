"""The ways to fine-tune, one file each: what a page says of it, how it is put on a model, and all that is peculiar to it."""

from explorer.errors import BadInputError
from explorer.tuning.methods.bitfit import BITFIT
from explorer.tuning.methods.full import FULL
from explorer.tuning.methods.head import HEAD
from explorer.tuning.methods.houlsby import HOULSBY
from explorer.tuning.methods.ia3 import IA3
from explorer.tuning.methods.lora import LORA
from explorer.tuning.methods.method import Method
from explorer.tuning.methods.pfeiffer import PFEIFFER
from explorer.tuning.methods.prefix import PREFIX
from explorer.tuning.methods.prompt import PROMPT
from explorer.tuning.methods.student import STUDENT
from explorer.tuning.methods.text_student import TEXT_STUDENT

__all__ = ["METHODS", "STUDENT", "TEXT_STUDENT", "Method", "find_method"]

METHODS = (FULL, HEAD, BITFIT, LORA, PROMPT, PREFIX, HOULSBY, PFEIFFER, IA3)
"""In the order of the page's list. To add one, add its file and its name here."""


def find_method(slug: str) -> Method:
    """A method by its name. Raises BadInputError, naming those there are."""
    found = {method.slug: method for method in (*METHODS, STUDENT, TEXT_STUDENT)}.get(slug)
    if found is None:
        raise BadInputError(f"There is no method {slug!r}. Take one of {', '.join(method.slug for method in METHODS)}.")
    return found
