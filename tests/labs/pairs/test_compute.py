"""Next-sentence prediction against transformers' own class for it."""

from __future__ import annotations

import pytest
import torch
from transformers import BertForNextSentencePrediction, PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.labs.pairs.jobs import score_all_pairs, score_pair
from explorer.labs.pairs.schema import AllPairsParams, PairParams, losses_of
from explorer.models.loaded_model import LoadedModel
from tests.rows import each_row

PAIRS = (
    ("The man went to the store.", "He bought a gallon of milk."),
    ("The man went to the store.", "Penguins are flightless birds."),
    ("a", "b"),
    ("Why not?", "“Because,” she said, “I'd rather <b>not</b> & 東京 😀.”"),
)
STORY = (
    "The ship left the harbour at dawn. A strong wind blew from the west. "
    "The captain ordered the crew to lower the sails. Nobody slept that night."
)


@pytest.fixture(scope="module")
def nsp_model(model_folder: object) -> BertForNextSentencePrediction:
    model = BertForNextSentencePrediction.from_pretrained(model_folder, dtype=torch.float32)
    return model.eval().requires_grad_(False)


@each_row("pair", PAIRS)
def test_a_pair_agrees_with_bert_for_next_sentence_prediction(
    loaded: LoadedModel,
    nsp_model: BertForNextSentencePrediction,
    tokenizer: PreTrainedTokenizerBase,
    pair: tuple[str, str],
) -> None:
    expected = nsp_model(**tokenizer(*pair, return_tensors="pt")).logits[0]
    result = score_pair(loaded, PairParams(*pair))
    assert result.logits == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.probabilities == pytest.approx(expected.softmax(-1).tolist(), abs=1e-5)
    assert sum(result.probabilities) == pytest.approx(1.0, abs=1e-6)
    for true, loss in enumerate(losses_of(result.logits)):
        theirs = nsp_model(**tokenizer(*pair, return_tensors="pt"), labels=torch.tensor([true])).loss
        assert loss == pytest.approx(float(theirs), abs=1e-5)


@each_row("pair", PAIRS)
def test_segment_0_ends_with_the_first_sep_and_the_rest_is_segment_1(
    loaded: LoadedModel, pair: tuple[str, str]
) -> None:
    tokens = score_pair(loaded, PairParams(*pair)).tokens
    texts = [token.text for token in tokens]
    first = texts.index("[SEP]")
    assert [token.segment for token in tokens] == [0] * (first + 1) + [1] * (len(tokens) - first - 1)
    assert [token.position for token in tokens] == list(range(len(tokens)))
    assert [place for place, token in enumerate(tokens) if token.special] == [0, first, len(tokens) - 1]


def test_every_pair_of_a_text_has_the_score_that_it_has_alone(loaded: LoadedModel) -> None:
    result = score_all_pairs(loaded, AllPairsParams(STORY))
    count = len(result.sentences)
    assert count == 4
    for first, row in enumerate(result.probabilities):
        assert len(row) == count
        for second, probability in enumerate(row):
            if first == second:
                assert probability is None
            else:
                alone = score_pair(loaded, PairParams(result.sentences[first], result.sentences[second]))
                assert probability == pytest.approx(alone.probabilities[0], abs=1e-5)


def test_order_matters(loaded: LoadedModel) -> None:
    grid = score_all_pairs(loaded, AllPairsParams(STORY)).probabilities
    assert grid[0][3] != grid[3][0]


def test_the_bundled_model_tells_a_sequel_from_a_sentence_of_another_text(loaded: LoadedModel) -> None:
    """A loose fact: over a few stories, true successors score higher on average than foreign sentences."""
    stories = [
        ("The ship left the harbour at dawn.", "The captain ordered the crew to set the sails."),
        ("The band released its first album in 1999.", "It sold a million copies in the United States."),
        ("The army crossed the river at night.", "The battle began the next morning."),
        ("This film is a waste of time.", "The actors are bad and the story is boring."),
    ]
    true, foreign = 0.0, 0.0
    for number, (first, second) in enumerate(stories):
        other = stories[(number + 1) % len(stories)][1]
        true += score_pair(loaded, PairParams(first, second)).probabilities[0]
        foreign += score_pair(loaded, PairParams(first, other)).probabilities[0]
    assert true > foreign


@each_row("empty", ["", "  \n", None, 7, "\x00\x01"])
@each_row("name", ["sentence_a", "sentence_b"])
def test_an_empty_sentence_is_refused(name: str, empty: object) -> None:
    sentences = {"sentence_a": "One.", "sentence_b": "Two.", name: empty}
    with pytest.raises(BadInputError, match=r"[Tt]ype (one|a sentence)"):
        PairParams(**sentences)  # type: ignore[arg-type]


def test_the_refusal_says_which_sentence_is_empty() -> None:
    with pytest.raises(BadInputError, match="first"):
        PairParams("", "Two.")
    with pytest.raises(BadInputError, match="second"):
        PairParams("One.", " ")


@each_row(
    ("text", "says"),
    [
        ("Only one sentence here.", "at least two"),
        ("", "Type a sentence"),
        (None, "Type a sentence"),
        ("One two. " * 13, "13 sentences.*at most 12"),
    ],
)
def test_a_text_that_cannot_be_paired_says_what_to_do(text: object, says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        AllPairsParams(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [2, 12])
def test_two_to_twelve_sentences_are_taken(count: int) -> None:
    assert AllPairsParams("One two. " * count).text


def test_a_pair_too_long_for_the_model_is_refused(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="tokens long"):
        score_pair(loaded, PairParams("word " * 300, "word " * 300))
    with pytest.raises(BadInputError, match="tokens long"):
        score_all_pairs(loaded, AllPairsParams(f"{'Word ' * 300}. {'Word ' * 300}."))


def test_few_characters_of_many_tokens_are_measured_by_tokens(loaded: LoadedModel) -> None:
    """The sentences with the most characters need not be those with the most tokens."""
    with pytest.raises(BadInputError, match="tokens long"):
        score_all_pairs(loaded, AllPairsParams(f"W{'東' * 600}. {'Hello there ' * 60}. {'Hello there ' * 60}."))


def test_one_long_sentence_beside_a_short_one_is_accepted(loaded: LoadedModel) -> None:
    grid = score_all_pairs(loaded, AllPairsParams(f"{'Word ' * 300}. Short.")).probabilities
    assert grid[0][1] is not None
