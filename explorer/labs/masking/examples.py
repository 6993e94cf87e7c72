"""Worked examples of the masking lab: a text and the word of it that is hidden."""

from __future__ import annotations

from typing import NamedTuple


class Example(NamedTuple):
    """text, and the words to hide, separated by commas."""

    text: str
    hidden: str


EXAMPLES = (
    Example("The keys to the cabinet are on the table.", "are"),
    Example("The key to the cabinets is on the table.", "is"),
    Example("Mount Everest is the highest mountain in the world.", "mountain"),
    Example("Cats and dogs are popular pets.", "dogs"),
    Example("The nurse said she was tired.", "she"),
    Example("The doctor said he was tired.", "he"),
    Example("The farmer milked the cow before breakfast.", "cow"),
    Example("He was so tired that he fell asleep on the sofa.", "asleep"),
    Example("The bird built a nest in the old apple tree.", "nest"),
    Example("The judge sentenced him to ten years in prison.", "prison"),
    Example("The Beatles were a British rock band from Liverpool.", "rock, Liverpool"),
    Example("She is a very good player and they are happy to have her.", "is, are"),
    Example("My brother plays the guitar in a band.", "guitar"),
    Example("The soldiers who guarded the bridge were tired.", "were"),
    Example("I forgot to lock the door when I left the house.", "door, house"),
)

TRY = (
    ("One key, many cabinets", EXAMPLES[1]),
    ("The nurse said …", EXAMPLES[4]),
    ("The doctor said …", EXAMPLES[5]),
    ("Hide both words", Example("The ship sailed across the sea to France.", "ship, sea")),
    ("State a wrong fact", Example("The capital of Germany is Rome.", "Rome")),
)
"""One-click experiments: what a first look at the worked example makes one want to know."""

LOOKING = (
    ("Where does Berlin come?", ("The capital of Germany is Rome.", "Rome", "Berlin", False)),
    ("A wrong word in view", ("She drank a cup of tree in the morning.", "tree", "tea", True)),
)
"""The same with words to look for, and with what is pressed left in view."""

CORRUPTION_TEXT = "The old lighthouse was built in 1871, and its keepers lit the lamp every evening to guide the ships."
CORRUPTION_SEED = 9
"""The page's first draw, one in which all three fates occur."""

RECIPES = (
    ("BERT's own", (0.15, 0.8, 0.1, "token")),
    ("Only [MASK], 40%", (0.4, 1.0, 0.0, "token")),
    ("Whole words", (0.15, 0.8, 0.1, "whole_word")),
)
"""One-click recipes: rate, mask share, random share, scheme."""
