"""Invented restaurants: what a model might have written, and two references each, written for this page."""

from __future__ import annotations

from explorer.tasks.places.bundled import restaurants

HYPOTHESES = """\
The Copper Kettle is a cheap, child-friendly pub by the river.
Bella is a highly rated Italian restaurant near the old mill.
Harbour Lights serves fish in the city centre. It has a low customer rating.
The Fig is a coffee shop in the north that isn't family-friendly.
There is a place called Lantern House with French food for £20-25."""

REFERENCES = """\
The Copper Kettle is a cheap pub on the river that welcomes children.
By the river there is a cheap, child-friendly pub, the Copper Kettle.

Near the old mill you will find Bella, a highly rated Italian restaurant.
Bella is an Italian restaurant with a high customer rating. It is near the old mill.

Harbour Lights is a fish restaurant in the city centre with a low customer rating.
You can eat fish at Harbour Lights in the city centre, but customers rate it low.

The Fig, a coffee shop in the north, is not family-friendly.
If you have no children with you, try the coffee shop The Fig in the north.

Lantern House serves French food at prices from £20 to £25.
Lantern House has French dishes in the £20-25 range."""

_GROUPS = [group.splitlines() for group in REFERENCES.split("\n\n")]
_COPIED = "\n".join(group[0] for group in _GROUPS)
_TURNED = "\n".join(" ".join(line.rstrip(".").split()[::-1]) + "." for line in HYPOTHESES.splitlines())
_SHORT = "\n".join(" ".join(line.split()[:4]).rstrip(",.") + "." for line in HYPOTHESES.splitlines())

PEOPLE = 40
"""Bundled meanings whose two texts are held against each other."""
_PEOPLE = restaurants()[:PEOPLE]

TRY = {
    "As a model writes": (HYPOTHESES, REFERENCES),
    "The first reference itself": (_COPIED, REFERENCES),
    "The words turned round": (_TURNED, REFERENCES),
    "Only four words": (_SHORT, REFERENCES),
    "One writer against another": tuple("\n".join(one.references[place] for one in _PEOPLE) for place in (0, 1)),
    "One reference each": (HYPOTHESES, "\n".join(group[0] for group in _GROUPS)),
}
"""Hypotheses and references by name."""
