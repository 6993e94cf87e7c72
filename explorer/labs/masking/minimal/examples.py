"""Thirty minimal pairs: two sentences that differ in one thing, of which one is better."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("agreement", "word order", "sense")


class MinimalPair(NamedTuple):
    """kind; what is changed, for a chart's label; the better sentence and the worse."""

    kind: str
    label: str
    better: str
    worse: str


def _pairs(kind: str, *pairs: tuple[str, str, str]) -> tuple[MinimalPair, ...]:
    return tuple(MinimalPair(kind, *pair) for pair in pairs)


PAIRS = (
    *_pairs(
        "agreement",
        ("are / is", "The keys to the cabinet are on the table.", "The keys to the cabinet is on the table."),
        ("lives / live", "The author of the books lives in Paris.", "The author of the books live in Paris."),
        ("were / was", "The children who saw the film were happy.", "The children who saw the film was happy."),
        ("has / have", "No student has finished the exam.", "No student have finished the exam."),
        ("themselves", "The boys hurt themselves in the game.", "The boys hurt himself in the game."),
        ("these roads", "These roads lead to the river.", "This roads lead to the river."),
        ("that … is", "The pilot that the guards know is old.", "The pilot that the guards know are old."),
        ("was / were", "The box of old letters was in the attic.", "The box of old letters were in the attic."),
        ("has written", "She has written three books about the war.", "She has wrote three books about the war."),
        ("one … has", "Every one of the houses has a garden.", "Every one of the houses have a garden."),
    ),
    *_pairs(
        "word order",
        ("the boy", "The boy ate the apple.", "The apple ate the boy."),
        ("the police", "The police arrested the thief.", "The thief arrested the police."),
        ("the cat", "The cat slept under the table.", "The table slept under the cat."),
        ("red rose", "He gave his mother a red rose.", "He gave his mother a rose red."),
        ("he wants", "I don't know what he wants.", "I don't know what wants he."),
        ("already", "They have already sold the house.", "They have sold already the house."),
        ("slowly", "The old man slowly opened the door.", "The old man opened slowly the door."),
        ("did you", "Where did you put the keys?", "Where you did put the keys?"),
        ("what a", "What a beautiful day it is!", "What beautiful a day it is!"),
        ("turned off", "He turned off the light and went to bed.", "He turned the light and went off to bed."),
    ),
    *_pairs(
        "sense",
        ("Paris", "The capital of France is Paris.", "The capital of France is London."),
        ("east", "The sun rises in the east.", "The sun rises in the west."),
        ("water", "He drank a glass of water.", "He drank a glass of sand."),
        ("barked", "The dog barked at the stranger.", "The dog sang at the stranger."),
        ("envelope", "She put the letter in an envelope.", "She put the letter in an elephant."),
        ("composer", "Mozart was a famous composer.", "Mozart was a famous footballer."),
        ("seven", "A week has seven days.", "A week has nine days."),
        ("landed", "The pilot landed the plane safely.", "The pilot ate the plane safely."),
        ("winter", "In winter it is cold and it snows.", "In summer it is cold and it snows."),
        ("Africa", "The Nile is a river in Africa.", "The Nile is a river in Europe."),
    ),
)
