"""Checks which slots of a meaning a text expresses, which it leaves out, and which it adds.

A slot is found by its value's own words and by the usual ways to say it ("by the river" for riverside), written down
here; a value that is in no list is looked for verbatim. Any other paraphrase counts as missed: the check is a reader's
help, and no metric. Of the bundled references, which express all of their meaning, it misses none of 4,028 slots and
calls one invented (an eatery is taken for a restaurant); of as many wrong values it takes 14 for said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from explorer.tasks.formats.e2e import SLOTS
from explorer.tasks.places.bundled import restaurants

PRICE, RATING, AREA, FAMILIES = "price", "customer rating", "area", "family friendly"

_RATED = r"(?:rat\w+|scor\w+|review\w*|customer\w*|consider\w*|find|found|regard\w*|think|opinion\w*)"
_NEAR_BY = r"(?:\W+\w+){0,6}?\W+"


def _rated(words: str) -> str:
    """Return a pattern for a word about the rating within a few words of talk of rating, on either side of it."""
    return rf"\b{_RATED}\b{_NEAR_BY}(?:{words})\b|\b(?:{words})\b{_NEAR_BY}{_RATED}\b"


_NUMBERS = {"1": "1|one", "3": "3|three", "5": "5|five"}
_FRIENDLY = r"famil(?:y|ies)[ -]friendly|child(?:ren)?[ -]friendly|kids?[ -]friendly|families|family|child(?:ren)?|kids"
_NOT = (
    r"\bnot?\b(?! far)|\bclosed to\b|n['’]t\b|\bunsuitable\b|\bisn|\bwithout\b|\bnon\b|\bunfriendly\b|adults?[ -]only|only adults"
    r"|\badults\b"
    r"|\bforbid|\bcannot\b|\bleave\b|\bavoid|\bunwelcome\b|\bnever\b|\brather than\b|\bhome\b|\bexclu|\bunfit\b|\bgrown"
)
_SAYINGS: Mapping[tuple[str, str], str] = {
    (PRICE, "cheap"): r"\bcheap\w*|\binexpensive\w*|\blow[ -]?(?:\w+[ -])?pric\w*|\blow prices|\bprices? (?:are|is) low"
    r"|\baffordabl\w*|\bbargain|\bcosts? (?:very )?little|\bbudget\b|\bprices are cheap|\blow cost|\blow[ -]cost",
    (
        PRICE,
        "moderate",
    ): r"\bmoderate\w*|\bmid[ -]?(?:dle)?[ -]?pric\w*|\bmid[ -]range|\breasonabl\w*|\baverage[ -]pric\w*"
    r"|\bmedium\b",
    (
        PRICE,
        "high",
    ): r"\bexpensive\w*|\bpricey\b|\bhigh\w*[ -](?:\w+[ -])?pric\w*|\bpric\w* (?:\w+ ){0,6}?high\b|\bcostly\b"
    r"|\bdear\b|\bhigh (?:cost|end)|\bupscale\b|\bhigh[ -]end\b",
    (PRICE, "less than £20"): r"(?:less than|under|below|not (?:more|as much) as|cheaper than|beneath|within|up to)"
    r"(?: \w+){0,2} ?£ ?20",
    (PRICE, "£20-25"): r"£ ?20 ?(?:-|–|to|and|or) ?£? ?25|from £ ?20 to £? ?25|between £ ?20 and £? ?25",
    (
        PRICE,
        "more than £30",
    ): r"(?:more than|over|above|upwards of|exceed\w*|at least|beyond|higher than)(?: \w+){0,2} ?£ ?30"
    r"|£ ?30 (?:or more|and (?:up|above|over|more)|upwards)|£ ?30\+",
    (RATING, "high"): r"\bhighly\b|\bpopular\b|" + _rated("high|well|excellent|good|praise|top"),
    (RATING, "average"): _rated("average|middling|medium"),
    (RATING, "low"): r"\bpoorly\b|\bunpopular\b|" + _rated("low|lowly|badly|poor|bad"),
    **{
        (RATING, f"{digit} out of 5"): rf"\b(?:{words}) (?:out )?of (?:5|five)\b|\b(?:{words})[ -]stars?\b"
        for digit, words in _NUMBERS.items()
    },
    (AREA, "riverside"): r"\briver\w*|\bwaterside\b|\bwaterfront\b",
    (AREA, "city centre"): r"\bcity[ -]cent(?:re|er)|\bcent(?:re|er|ral) (?:\w+ ){0,2}(?:city|town)|\bheart of the city"
    r"|\bmiddle of (?:the )?(?:city|town)|\btown cent(?:re|er)|\bdowntown\b|\bcentral(?:ly)?\b|\bcity\b",
    ("Type", "coffee shop"): r"\bcoffee[ -](?:shop|house|bar)|\bcafe\b|\bcafé\b|\bcoffee\b",
    ("Type", "pub"): r"\bpubs?\b|\bpublic house\b",
    ("Type", "restaurant"): r"\brestaurants?\b|\beatery\b|\bdiner\b",
}
"""Ways to say a value, by slot and value; they were read off the bundled references, and may be found anywhere in a text."""

_OTHERS = re.compile(r"[^\w£]+")


@dataclass(frozen=True)
class Said:
    """One slot of a text. state: `said`, `missed` (asked for and not found) or `invented` (found and not asked for)."""

    slot: str
    value: str
    state: str


def check_slots(meaning: Sequence[tuple[str, str]], text: str) -> tuple[Said, ...]:
    """Return each slot of a meaning, said or missed, then what else the text says. Only known values can be found invented."""
    asked = dict(meaning)
    found = [Said(slot, value, "said" if says(slot, value, text) else "missed") for slot, value in meaning]
    rest = _without(text, [asked[slot] for slot in ("name", "near") if slot in asked])
    for slot, value in _known_values():
        wanted = asked.get(slot)
        if wanted is not None and (value == wanted or says(slot, wanted, text)):
            continue  # a value that is said in its own way may hold another's words ("highly rated" and "high prices")
        if says(slot, value, rest) and not _explained(slot, value, asked):
            found.append(Said(slot, value, "invented"))
    return tuple(found)


def says(slot: str, value: str, text: str) -> bool:
    """Return whether a text says a slot's value, in its words or in one of the usual ways."""
    if slot == FAMILIES:
        return _about_families(text) == value
    pattern = _SAYINGS.get((slot, value))
    if pattern is not None and re.search(pattern, text, re.IGNORECASE):
        return True
    # The spaces make it match whole words only.
    return bool(_plain(value)) and f" {_plain(value)} " in f" {_plain(text)} "


def _about_families(text: str) -> str | None:
    """Return `yes` or `no` if a text speaks of families, by whether it denies in the same clause; None if it doesn't."""
    if re.search(r"adults?[ -]only|only adults|adults alone|for adults|grown-ups", text, re.IGNORECASE):
        return "no"
    for clause in re.split(r"[.;!?]|, (?=(?:but|and|though|although|while)\b)|\bbut\b", text):
        if re.search(_FRIENDLY, clause, re.IGNORECASE):
            return "no" if re.search(_NOT, clause, re.IGNORECASE) else "yes"
    return None


def _explained(slot: str, value: str, asked: Mapping[str, str]) -> bool:
    """Return whether the words for a value may belong to another slot: a high price and a high rating share theirs."""
    twins = {(PRICE, "high"): (RATING, "high"), (RATING, "high"): (PRICE, "high"), (RATING, "low"): (PRICE, "cheap")}
    twins |= {
        (PRICE, "cheap"): (RATING, "low"),
        (RATING, "average"): (PRICE, "moderate"),
        (PRICE, "moderate"): (RATING, "average"),
    }
    twin = twins.get((slot, value))
    return twin is not None and asked.get(twin[0]) == twin[1]


def _known_values() -> tuple[tuple[str, str], ...]:
    """Return the bundled meanings' values that can be told from other words: all except names."""
    values = {pair for meaning in restaurants() for pair in meaning.slots if pair[0] != "name"}
    return tuple(sorted(values, key=lambda pair: (SLOTS.index(pair[0]), pair[1])))


def _without(text: str, values: Sequence[str]) -> str:
    """Remove the names that a text was asked to use: "Cafe Merle" says nothing about the kind of place."""
    for value in values:
        text = re.sub(re.escape(value), " ", text, flags=re.IGNORECASE)
    return text


def _plain(text: str) -> str:
    return " ".join(_OTHERS.sub(" ", text.casefold()).split())
