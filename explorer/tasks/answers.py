"""SQuAD's metrics: exact match and F1 over words, against the best of the accepted answers.

Source: Rajpurkar et al. 2016, SQuAD, section 6.1; with questions without an answer, Rajpurkar, Jia and Liang 2018,
section 5.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

EXACT, F1 = "exact_match", "f1"
METRICS = (F1, EXACT)
"""The metrics' names, the leading one first."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def words(answer: str) -> list[str]:
    """Return an answer's words in lower case, without ASCII punctuation and without a, an and the."""
    # Articles go after punctuation, as in SQuAD's own script.
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def exact_match(said: str, right: Sequence[str]) -> float:
    """Return 1 if the words of the answer are those of one of the right answers, else 0. right: empty if no answer is right."""
    return float(any(words(said) == words(one) for one in accepted(right)))


def accepted(right: Sequence[str]) -> Sequence[str]:
    """Return the right answers that have a word; "" if none has."""
    return [one for one in right if words(one)] or [""]  # no answer is then right, as in SQuAD's own evaluate-v2.0


def f1(said: str, right: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of the words, for the right answer with which it is highest, in
    [0, 1].

    If the right answer or the given one has no word, it is 1 if both have none and 0 otherwise.
    """
    return max(_f1(words(said), words(one)) for one in accepted(right))


def _f1(said: list[str], right: list[str]) -> float:
    if not said or not right:
        return float(said == right)
    shared = (Counter(said) & Counter(right)).total()
    return 2 * shared / (len(said) + len(right))


def score_answers(said: Sequence[str], right: Sequence[Sequence[str]]) -> dict[str, float | None]:
    """Return both metrics, each the mean over all questions, in [0, 1]; None without questions."""
    pairs = list(zip(said, right, strict=True))
    if not pairs:
        return dict.fromkeys(METRICS)
    return {
        F1: sum(f1(one, answers) for one, answers in pairs) / len(pairs),
        EXACT: sum(exact_match(one, answers) for one, answers in pairs) / len(pairs),
    }
