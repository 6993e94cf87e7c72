"""Texts with several blanks: the text, and over how many steps it is filled."""

OPENING = ("The president of the [MASK] [MASK] lives in the White House.", 2)

TRY = (
    ("A city in California", ("She lives in [MASK] [MASK], a city in California.", 2)),
    ("He or she, his or her", ("The boy said that [MASK] had lost [MASK] keys.", 2)),
    ("A whole clause", ("The [MASK] [MASK] [MASK] [MASK] in the park.", 4)),
    ("A line of eight", ("[MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK].", 4)),
    ("The same, in one step", ("[MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK] [MASK].", 1)),
)
"""One-click experiments."""
