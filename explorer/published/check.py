"""A published figure beside the same figure computed now."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

UNITS = {"": 1.0, "%": 0.01, "K": 1e3, "M": 1e6, "B": 1e9, "MB": 1e6, "GB": 1e9, "TB": 1e12}
"""What a unit stands for; bytes are counted in powers of ten, as the papers' are."""

INFERRED = "{} was inferred from the count itself, so this row is no independent check."

_WRITTEN = re.compile(r"(?P<sign>[+−-]?)(?P<number>[\d,]+(?:\.\d+)?) ?(?P<unit>[A-Z%]*)")

PAPERS = {
    "bert": "BERT (Devlin et al. 2019)",
    "roberta": "RoBERTa (Liu et al. 2019)",
    "albert": "ALBERT (Lan et al. 2020)",
    "electra": "ELECTRA (Clark et al. 2020)",
    "distilbert": "DistilBERT (Sanh et al. 2019)",
    "distillation": "Distillation (Hinton et al. 2015)",
    "deberta": "DeBERTa (He et al. 2021)",
    "gpt2": "GPT-2 (Radford et al. 2019)",
    "lora": "LoRA (Hu et al. 2021)",
}
"""By the name that the endpoint knows each by."""


@dataclass(frozen=True)
class Check:
    """One figure of a paper and how it is computed again.

    paper: a key of PAPERS. place: its table or section. quantity: what is counted or measured. published: the figure as the
    paper writes it, with its unit. how: the formula in words. compute: takes `inputs` by name. why: what explains a
    difference, or what the computed figure leaves open; instead: another count of the same inputs, which it names as {instead}.
    inferred: the input, as a sentence names it, that no quoted table gives and that the published figure itself was used to find.
    unexplained: whether the difference is left open.
    """

    paper: str
    place: str
    quantity: str
    published: str
    how: str
    compute: Callable[..., float]
    inputs: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    instead: Callable[..., float] | None = None
    inferred: str = ""
    unexplained: bool = False

    def computed(self, **changed: float) -> float:
        """The figure now, in ones; `changed` inputs take the place of the published ones."""
        return float(self.compute(**{**self.inputs, **changed}))

    @property
    def value(self) -> float:
        """The published figure in ones: 0.3M is 300,000, 2.2% is 0.022."""
        return float(self._number) * UNITS[self.unit]

    @property
    def unit(self) -> str:
        """A key of UNITS."""
        return self._parts["unit"]

    @property
    def reason(self) -> str:
        """`why` with the other count in it, two digits finer than the published figure, and what of it is inferred."""
        why = self.why
        if self.instead is not None:
            other = self._to_the_digits(float(self.instead(**self.inputs)), Decimal("0.01"))
            why = why.format(instead=self._text(other))
        return " ".join(filter(None, (why, INFERRED.format(self.inferred) if self.inferred else "")))

    def rounded(self, value: float) -> str:
        """A value in ones, written as the paper writes its own: unit, sign and decimals."""
        return self._text(self._to_the_digits(value))

    def agrees(self, value: float) -> bool:
        """Whether a value in ones, rounded to the digits that the paper prints, is what it prints."""
        return self._to_the_digits(value) == self._number

    @property
    def _parts(self) -> dict[str, str]:
        found = _WRITTEN.fullmatch(self.published)
        if found is None or found["unit"] not in UNITS:
            raise ValueError(f"{self.published!r} is no figure with a known unit")
        return found.groupdict()

    @property
    def _number(self) -> Decimal:
        parts = self._parts
        number = Decimal(parts["number"].replace(",", ""))
        return -number if parts["sign"] in ("−", "-") else number

    def _to_the_digits(self, value: float, finer: Decimal = Decimal(1)) -> Decimal:
        exact = Decimal(repr(round(value / UNITS[self.unit], 9)))  # 86.35 is not to be 86.34999…
        return exact.quantize(Decimal(1).scaleb(int(self._number.as_tuple().exponent)) * finer, rounding=ROUND_HALF_UP)

    def _text(self, number: Decimal) -> str:
        sign = "−" if number < 0 else "+" if self._parts["sign"] == "+" else ""
        space = " " if f" {self.unit}" in self.published else ""
        grouped = "," if "," in self.published else ""
        return f"{sign}{abs(number):{grouped}}{space}{self.unit}"
