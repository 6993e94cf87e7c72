"""The worked examples, the one-click experiments, and the sentences that random tokens are drawn from."""

from __future__ import annotations

BANK = (
    "She sat on the bank of the river. | river",
    "The boat drifted to the far bank. | river",
    "We walked along the grassy bank of the stream. | river",
    "He put his money in the bank. | money",
    "The bank raised its interest rates last week. | money",
    "The loan from the bank was paid back in May. | money",
)

BAT = (
    "The bat flew out of the cave at night. | animal",
    "A bat hung upside down from the roof. | animal",
    "The bat eats insects in the dark. | animal",
    "He hit the ball with a wooden bat. | sport",
    "The player swung the bat and missed. | sport",
    "She bought a new bat for the baseball game. | sport",
)

SPRING = (
    "The flowers bloom in spring. | season",
    "The birds come back from the south every spring. | season",
    "The spring in the old mattress was broken. | coil",
    "A metal spring pushes the lid open. | coil",
    "They drank cold water from the mountain spring. | water",
    "A hot spring feeds the small lake. | water",
)

EXAMPLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("bank: of a river, or for money", "bank", BANK),
    ("bat: an animal, or in sport", "bat", BAT),
    ("spring: a season, a coil, or water", "spring", SPRING),
    (
        "light: not heavy, or to see by",
        "light",
        (
            "The box was light and easy to carry. | not heavy",
            "She wore a light coat of thin wool. | not heavy",
            "He packed a light bag for the trip. | not heavy",
            "The light of the lamp filled the room. | to see by",
            "We saw a bright light in the sky. | to see by",
            "Plants need light and water to grow. | to see by",
        ),
    ),
)

TRY: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Change one word",
        "bank",
        (
            "He went to the river bank. | river",
            "He went to the savings bank. | money",
            "He went to the muddy bank. | river",
            "He went to the central bank. | money",
        ),
    ),
    (
        "One sense only",
        "bank",
        (
            "He put his money in the bank.",
            "The bank raised its interest rates last week.",
            "The loan from the bank was paid back in May.",
            "She works for a large bank in the city.",
        ),
    ),
    (
        "A word without a sense: the",
        "the",
        (
            "Nobody saw the cat.",
            "He paid the bill with cash.",
            "In 1871 the war was over.",
            "All of the trees lost their leaves.",
        ),
    ),
)
"""What a first look makes one want to know: how little context is enough, how far one sense spreads, and what a word does
whose meaning is in its neighbours."""

PLAIN = (
    "The children played football in the park until it was dark.",
    "Scientists have found a new kind of frog in the forest.",
    "My grandmother baked bread every Sunday morning.",
    "The train to the coast leaves at half past seven.",
    "He wrote three novels and a book about music.",
    "Snow fell during the night and covered the roads.",
    "The company plans to build a factory near the border.",
    "Doctors say that walking is good for the heart.",
    "An old man was feeding ducks beside the lake.",
    "The museum opens its doors to visitors at nine.",
    "Their team lost the final game by a single point.",
    "Most of the island is covered by mountains and rain.",
)
"""About nothing in particular, so that random tokens of them stand for any two words."""

LENS_EXAMPLES: tuple[tuple[str, str, str], ...] = (
    ("agreement: keys … are", "The keys to the cabinet [MASK] on the table.", "is"),
    ("a name: New York", "New [MASK] is the largest city in the United States.", "Jersey"),
    ("a phrase: United States", "The president of the United [MASK] lives in the White House.", "Kingdom"),
    ("four of what?", "A dog has four [MASK].", "children"),
    ("fly or swim", "Birds can [MASK], and fish can swim.", "swim"),
    ("a capital: Rome", "Rome is the capital of [MASK].", "America"),
)
"""A name, a text, and a word to follow beside the answer."""

LENS_TRY: tuple[tuple[str, str, str], ...] = (
    ("Swap the numbers", "The key to the cabinets [MASK] on the table.", "are"),
    ("Something it has to know", "Mount Everest is the highest [MASK] in the world.", "point"),
    ("Two blanks", "The president of the [MASK] States lives in the [MASK] House.", "Kingdom"),
)
"""One-click experiments: agreement with a noun that is not the nearest, a fact, and two places at once."""
