"""What the tab opens with, and meanings to try."""

from __future__ import annotations

from explorer.tasks.formats.e2e import spelled

MEANING = spelled(
    (
        ("name", "Copper Kettle"),
        ("Type", "pub"),
        ("food", "Italian"),
        ("price", "cheap"),
        ("area", "riverside"),
        ("family friendly", "yes"),
    )
)
"""A name that the training meanings have, in a combination that they don't."""

TRY = {
    "all eight slots": spelled(
        (
            ("name", "Brass Lantern"),
            ("Type", "restaurant"),
            ("food", "Japanese"),
            ("price", "more than £30"),
            ("customer rating", "5 out of 5"),
            ("area", "city centre"),
            ("family friendly", "no"),
            ("near", "Crane Bridge"),
        )
    ),
    "two slots": spelled((("name", "Acorn House"), ("Type", "coffee shop"))),
    "a name it never saw": spelled(
        (("name", "The Blue Spice"), ("Type", "pub"), ("food", "Thai"), ("area", "riverside"))
    ),
}

VALUES: dict[str, tuple[str, ...]] = {
    "name": ("Acorn House", "Brass Lantern", "Copper Kettle", "Ivy Gate", "The Vagabond"),
    "Type": ("restaurant", "pub", "coffee shop"),
    "food": ("English", "Italian", "French", "Indian", "Chinese", "Japanese", "Fast food"),
    "price": ("cheap", "moderate", "high", "less than £20", "£20-25", "more than £30"),
    "customer rating": ("low", "average", "high", "1 out of 5", "3 out of 5", "5 out of 5"),
    "area": ("riverside", "city centre"),
    "family friendly": ("yes", "no"),
    "near": ("Crane Bridge", "Harbour Clock", "Kestrel Tower", "Old Granary", "Swan Fountain"),
}
"""What the lists offer; any other value may be typed."""
