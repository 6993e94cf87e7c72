"""How SQuAD judges an answer: exact match and F1 over words, against the best of the accepted answers.

Source: Rajpurkar et al. 2016, SQuAD, section 6.1; over questions without an answer too, Rajpurkar, Jia and Liang 2018, section 5.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

EXACT, F1 = "exact_match", "f1"
METRICS = (F1, EXACT)
"""The leading one first."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def words(answer: str) -> list[str]:
    """An answer's words in lower case, without ASCII punctuation and without a, an and the, in this order."""
    return _ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split()


def exact_match(said: str, right: Sequence[str]) -> float:
    """1 where the words of one of the right answers are those that were said; right: empty where no answer is right."""
    return float(any(words(said) == words(one) for one in accepted(right)))


def accepted(right: Sequence[str]) -> Sequence[str]:
    """The right answers that have a word; no answer where none has, as SQuAD's own evaluate-v2.0 does it."""
    return [one for one in right if words(one)] or [""]


def f1(said: str, right: Sequence[str]) -> float:
    """The harmonic mean of precision and recall of the words, of the right answer with which it is highest, in [0, 1].

    Where the right answer or what was said has no word, 1 if both have none and 0 otherwise.
    """
    return max(_f1(words(said), words(one)) for one in accepted(right))


def _f1(said: list[str], right: list[str]) -> float:
    if not said or not right:
        return float(said == right)
    shared = (Counter(said) & Counter(right)).total()
    return 2 * shared / (len(said) + len(right))


def score_answers(said: Sequence[str], right: Sequence[Sequence[str]]) -> dict[str, float | None]:
    """Both metrics, each the mean over all questions, in [0, 1]; None without questions."""
    pairs = list(zip(said, right, strict=True))
    if not pairs:
        return dict.fromkeys(METRICS)
    return {
        F1: sum(f1(one, answers) for one, answers in pairs) / len(pairs),
        EXACT: sum(exact_match(one, answers) for one, answers in pairs) / len(pairs),
    }
