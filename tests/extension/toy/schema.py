from dataclasses import dataclass

from explorer.params import Text, params


@params
class LengthsParams:
    text: Text = "A cat sat on the mat."


@dataclass(frozen=True)
class Lengths:
    tokens: tuple[str, ...]
