"""The worked examples, the one-click experiments, and the fifty sentences (written for this app, CC0)."""

from __future__ import annotations

from typing import NamedTuple

from explorer.labs.directions.schema import OPENING_TEXT

EXAMPLES: tuple[tuple[str, str, str], ...] = (
    ("both sides: keys … are", OPENING_TEXT, "6"),
    ("the right tells: a bird's nest", "The bird built its nest in the old tree.", "2"),
    ("the right tells: a patient", "The doctor told the patient to stay in bed.", "2"),
    ("the left tells: not a word", "She opened her mouth but could not say a word.", "10"),
    ("the left tells: White House", "The president of the United States lives in the White House.", "11"),
    ("both sides: neither … nor", "Neither the king nor the queen was there.", "4"),
)
"""Title, text, and the position of the hidden word."""

TRY: dict[str, tuple[str, str]] = {
    "Only the right tells": ("The ship sank with all its crew on board.", "2"),
    "Only the left tells": ("The film was a success at the box office.", "9"),
    "The left is enough": ("The album was released in the United Kingdom and the United States.", "12"),
    "A word in pieces": ("She took her raincoat because it was raining.", "4"),
}


class Blank(NamedTuple):
    """A sentence and its word to hide. kind: which side tells it, as the author meant it; start: its first character."""

    kind: str
    text: str
    word: str
    start: int


def _blanks(kind: str, sentences: str) -> tuple[Blank, ...]:
    """Read sentences, one a line, with the word in braces."""
    found = []
    for line in sentences.strip().splitlines():
        before, _, rest = line.partition("{")
        word, _, after = rest.partition("}")
        found.append(Blank(kind, f"{before}{word}{after}", word, len(before)))
    return tuple(found)


_RIGHT = """
The {bird} built its nest in the old tree.
The {army} crossed the river and attacked the enemy.
The {train} arrived at the station ten minutes late.
The {judge} sentenced him to ten years in prison.
His {wife} gave birth to their first child in May.
The {band} released its first album in 1994.
The {ship} sank with all its crew on board.
The {river} flows north through the valley and into the sea.
The {film} was directed by Steven Spielberg.
The {dog} barked at the cat all night.
The {teacher} asked her students to open their books.
Her {mother} and father were married in 1920.
The {war} ended with the defeat of Germany in 1945.
The {church} was built in 1850 and its priest still lives next door.
The {door} was locked and he had lost the key.
The {storm} destroyed many houses along the coast with its strong winds.
The {doctor} told the patient to stay in bed.
The {horse} was ridden by a young man in a race.
The {phone} rang and she answered it.
A {knife} was used to cut the bread.
"""

_LEFT = """
She opened her mouth but could not say a {word}.
The opposite of north is {south}.
Two and two make {four}.
He looked left and then he looked {right}.
The president of the United States lives in the White {House}.
I have not seen him for a long {time}.
She was born in a small town in New York {City}.
The film was a success at the box {office}.
He spoke in such a low {voice}.
He drank a glass of {water}.
She went to the hospital because she was {sick}.
Tom asked Mary to marry {him}.
The boy was hit by a car when he crossed the {street}.
The plane took {off}.
It was raining, so she took her {umbrella}.
She cut her finger with a {knife}.
I was so tired that I went straight to {bed}.
The door was locked and she had lost the {key}.
After dinner we washed the {dishes}.
She kissed him on the {cheek}.
"""

_BOTH = """
The keys to the cabinet {are} on the table.
She poured {milk} into her coffee.
He had to {choose} between love and money.
The boy ran {faster} than his older brother.
Neither the king {nor} the queen was there.
He bought a {ticket} for the train to London.
She sat down {between} her father and her mother.
The cat chased the {mouse} into its hole.
He put the letter in an {envelope} and sent it to her.
The captain of the {ship} and his crew were lost at sea.
"""

FIFTY = (*_blanks("right", _RIGHT), *_blanks("left", _LEFT), *_blanks("both", _BOTH))
"""Twenty that the right side tells, twenty that the left side tells, ten that need both."""
