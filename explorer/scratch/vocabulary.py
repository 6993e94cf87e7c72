"""Learns a WordPiece vocabulary from a text, as BERT's was from its own."""

from __future__ import annotations

from collections.abc import Iterable

from tokenizers import BertWordPieceTokenizer
from transformers import BertTokenizer, PreTrainedTokenizerBase

from explorer.errors import BadInputError

LONGEST = 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LEAST_FREQUENT = 2
"""How often a piece that is merged must occur at least."""


def learn_vocabulary(texts: Iterable[str], size: int) -> PreTrainedTokenizerBase:
    """Learn at most `size` WordPieces, in lower case (Devlin et al. 2019, section 3; BERT-base-uncased).

    A short text gives fewer. One text always gives one vocabulary, which a resumed run relies on. Raises BadInputError
    if the text's letters alone are more than `size`.
    """
    texts = list(texts)
    learner = BertWordPieceTokenizer(lowercase=True)
    # The library numbers a letter within words when it first meets it, in an order that differs from process to process, and
    # breaks ties between merges by these numbers. Named beforehand, they have one order.
    within = _letters_within(learner, texts)
    learner.train_from_iterator(
        texts,
        vocab_size=size,
        min_frequency=LEAST_FREQUENT,
        special_tokens=[*SPECIAL, *within],
        limit_alphabet=size,
        show_progress=False,
    )
    if learner.get_vocab_size() > size:
        raise BadInputError(
            f"This text is written with more than {size:,} different letters and signs. Take a larger vocabulary."
        )
    tokenizer: PreTrainedTokenizerBase = BertTokenizer(
        vocab=learner.get_vocab(), do_lower_case=True, model_max_length=LONGEST
    )
    return tokenizer


def _letters_within(learner: BertWordPieceTokenizer, texts: list[str]) -> list[str]:
    """Return every letter that stands inside a word, as a piece: ##a, ##b and so on."""
    found: set[str] = set()
    for text in texts:
        for word, _ in learner.pre_tokenizer.pre_tokenize_str(learner.normalizer.normalize_str(text)):
            found.update(word[1:])
    return [f"##{letter}" for letter in sorted(found)]
