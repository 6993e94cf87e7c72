"""The rows that a training step draws from tokenised text.

text       [CLS] running text of one document [SEP]                                     (BERT's body of text, DistilBERT)
sentence   [CLS] one short sentence, as visitors type them [SEP]
pair       [CLS] A [SEP] B [SEP] with segment ids; B follows A half the time, else it comes from another document (BERT, A.2)
order      [CLS] A [SEP] B [SEP]: two neighbouring segments of one paragraph, swapped half the time      (ALBERT, 3.1)
full       [CLS] whole sentences, on into the next document after a [SEP] [SEP]           (RoBERTa, 4.2: FULL-SENTENCES)
doc_sentences   the same inside one document                                             (RoBERTa, 4.2: DOC-SENTENCES)
segment_pair    pairs of segments that fill the row, none of single sentences           (RoBERTa, 4.2: SEGMENT-PAIR+NSP)
sentence_pair   pairs of single sentences, much shorter than the row                   (RoBERTa, 4.2: SENTENCE-PAIR+NSP)
running    sentences from one document into the next, a separator between, nothing around them                   (GPT-2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.objectives.text import TextStore

IS_NEXT, NOT_NEXT = 0, 1
"""BertForPreTraining's classes of `next_sentence_label`."""
IN_ORDER, SWAPPED = 0, 1
"""AlbertForPreTraining's classes of `sentence_order_label`."""

SHORT_PAIR_SHARE = 0.3
"""The share of pairs made of one sentence each rather than of as much text as fits: visitors type single sentences."""


Span = tuple[int, int]


@dataclass(frozen=True)
class Row:
    """Token ids with special tokens, the segment of each, and the pair's class (IGNORED_LABEL without a pair)."""

    input_ids: list[int]
    token_type_ids: list[int]
    pair_label: int = IGNORED_LABEL


@dataclass(frozen=True)
class DrawnPair:
    """A pair, and the positions in the store's `ids` from which its two segments are taken.

    a, b: from the first token up to, but not including, the second number. wanted: tokens of both before they were
    shortened to fit.
    """

    row: Row
    a: tuple[int, int]
    b: tuple[int, int]
    wanted: int


class RowMaker:
    """Draws rows from a store, with the special tokens of one tokenizer."""

    def __init__(self, cls_id: int, sep_id: int) -> None:
        self.cls_id, self.sep_id = cls_id, sep_id

    def joined(self, first: list[int], second: list[int], label: int) -> Row:
        """Return [CLS] A [SEP] B [SEP] from two given parts."""
        ids = [self.cls_id, *first, self.sep_id, *second, self.sep_id]
        return Row(ids, [0] * (len(first) + 2) + [1] * (len(second) + 1), label)

    def text(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw [CLS] running text [SEP]."""
        ids = [self.cls_id, *store.take(store.sentence_at(rng), length - 2), self.sep_id]
        return Row(ids, [0] * len(ids))

    def sentence(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw [CLS] one sentence [SEP]."""
        ids = store.one_sentence(int(rng.integers(store.sentences)))[: length - 2]
        return Row([self.cls_id, *ids, self.sep_id], [0] * (len(ids) + 2))

    def pair(
        self, store: TextStore, length: int, rng: np.random.Generator, short_share: float = SHORT_PAIR_SHARE
    ) -> Row:
        """Draw [CLS] A [SEP] B [SEP]; B follows A in half of the draws.

        short_share: how many of the pairs are single sentences; the others are segments that fill the row, as in BERT.
        Raises BadInputError if the text has no two sentences that follow each other, or no other document.
        """
        return self.drawn_pair(store, length, rng, short_share).row

    def drawn_pair(
        self,
        store: TextStore,
        length: int,
        rng: np.random.Generator,
        short_share: float = SHORT_PAIR_SHARE,
        *,
        document: int | None = None,
        follows: bool | None = None,
    ) -> DrawnPair:
        """Draw a pair as `pair` does, and return where it comes from.

        document: the one that A is taken from; None draws it. follows: whether B follows A; None draws it.
        """
        self._require_pairs(store, document)
        first, budget = self._with_a_sequel(store, rng, document), length - 3
        if single := rng.random() < short_share:
            sentences_a = 1
        else:
            # 4 tokens at least, and as many left for B.
            sentences_a = self._fill_segment_a(store, first, int(rng.integers(4, max(5, budget - 3))))
        second, label = first + sentences_a, IS_NEXT
        coin = rng.random() < 0.5  # tossed though `follows` may decide, so that the rest of the draw stays the same
        if not coin if follows is None else follows:
            end = store.document_end(first)
        else:
            label = NOT_NEXT
            # A random B must not come from A's own document (Devlin et al. 2019, A.2).
            while store.documents[second := store.sentence_at(rng)] == store.documents[first]:
                pass
            end = store.document_end(second)
        a, b = (
            (int(store.starts[at]), int(store.starts[to])) for at, to in ((first, first + sentences_a), (second, end))
        )
        b = (b[0], int(store.starts[second + 1])) if single else (b[0], min(b[1], b[0] + budget))
        wanted = a[1] - a[0] + b[1] - b[0]
        a, b = self._shortened(a, b, budget, rng)
        return DrawnPair(self.joined(store.tokens(*a), store.tokens(*b), label), a, b, wanted)

    def segment_pair(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw a pair of segments that fill the row as far as their documents reach. Raises as `pair` does."""
        return self.pair(store, length, rng, short_share=0.0)

    def sentence_pair(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw a pair of single sentences. Raises as `pair` does."""
        return self.pair(store, length, rng, short_share=1.0)

    def order(
        self, store: TextStore, length: int, rng: np.random.Generator, short_share: float = SHORT_PAIR_SHARE
    ) -> Row:
        """Draw [CLS] A [SEP] B [SEP]; the two follow each other in a paragraph, and in half of the draws they are
        swapped.

        Nothing but the text may tell the classes apart, so every choice is the same read backwards: the sentences begin
        as two neighbours, all equally likely, and grow at either end by chance as far as the row and the paragraph
        reach; what does not fit is cut after the swap. A paragraph that fits is taken whole, its beginning with it.

        short_share and errors: as for `pair`.
        """
        if not store.has_neighbours:
            raise BadInputError(
                "Sentence order needs a text in which two sentences follow each other in one paragraph."
            )
        budget = length - 3
        while (first := int(rng.integers(store.sentences))) + 1 >= store.paragraph_end(first):
            pass
        stop = first + 2
        if rng.random() >= short_share:
            first, stop = self._grown(store, first, stop, budget, rng)
        middle = int(rng.integers(first + 1, stop))
        segments = [store.between(first, middle), store.between(middle, stop)]
        label = SWAPPED if rng.random() < 0.5 else IN_ORDER
        segment_a, segment_b = segments if label == IN_ORDER else reversed(segments)
        while len(segment_a) + len(segment_b) > budget:
            max(segment_a, segment_b, key=len).pop()
        return self.joined(segment_a, segment_b, label)

    def full(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw [CLS] whole sentences [SEP], as many as fit; where a document ends, a [SEP] and the next one's sentences
        follow.
        """
        first = store.sentence_at(rng)
        return self._whole_sentences(store, length, first, store.sentences)

    def doc_sentences(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw [CLS] whole sentences [SEP], as many as fit before their document ends: rows near an end are shorter."""
        first = store.sentence_at(rng)
        return self._whole_sentences(store, length, first, store.document_end(first))

    def _whole_sentences(self, store: TextStore, length: int, first: int, stop: int) -> Row:
        """Join the sentences from `first` on, before `stop`; the first is cut if it alone is too long."""
        ids = [self.cls_id, *store.one_sentence(first)[: length - 2]]
        for sentence in range(first + 1, stop):
            between = [self.sep_id] if store.documents[sentence] != store.documents[sentence - 1] else []
            more = between + store.one_sentence(sentence)
            if len(ids) + len(more) > length - 1:
                break
            ids += more
        ids.append(self.sep_id)
        return Row(ids, [0] * len(ids))

    def running(self, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw `length` tokens from a sentence's start on, with a separator after each document; after the last
        document comes the first.
        """
        sentence, ids = store.sentence_at(rng), list[int]()
        while len(ids) < length:
            ids += [*store.take(sentence, length), self.sep_id]
            sentence = store.document_end(sentence) % store.sentences
        return Row(ids[:length], [0] * length)

    @staticmethod
    def _require_pairs(store: TextStore, document: int | None) -> None:
        if not store.has_pairs:
            raise BadInputError("Sentence pairs need two documents or more, one of them with two sentences.")
        if document is not None and int((store.documents == document).sum()) < 2:
            raise BadInputError(
                f"Document {document + 1} has no second sentence, so nothing in it can follow. Add one, ended by a full stop."
            )

    @staticmethod
    def _grown(store: TextStore, first: int, stop: int, budget: int, rng: np.random.Generator) -> tuple[int, int]:
        """Extend a run of sentences of one paragraph at either end by chance, until at neither end another fits."""
        begin, end = store.paragraph_start(first), store.paragraph_end(first)
        while True:
            wider = [
                (lower, upper)
                for lower, upper in ((first - 1, stop), (first, stop + 1))
                if lower >= begin and upper <= end and store.starts[upper] - store.starts[lower] <= budget
            ]
            if not wider:
                return first, stop
            first, stop = wider[int(rng.integers(len(wider)))]

    @staticmethod
    def _with_a_sequel(store: TextStore, rng: np.random.Generator, document: int | None) -> int:
        """Draw a sentence that is not its document's last, from the given document if any."""
        while True:
            first = store.sentence_at(rng)
            if first + 1 < store.document_end(first) and document in (None, int(store.documents[first])):
                return first

    @staticmethod
    def _fill_segment_a(store: TextStore, first: int, target: int) -> int:
        """Return how many sentences A takes to reach `target` tokens, leaving at least one of the document to B."""
        end = store.document_end(first)
        count = 1
        while first + count + 1 < end and store.starts[first + count] - store.starts[first] < target:
            count += 1
        return count

    @staticmethod
    def _shortened(a: Span, b: Span, budget: int, rng: np.random.Generator) -> tuple[Span, Span]:
        """Shorten the longer segment until both fit: A at either end at random, B at its end."""
        # BERT's own code cuts either end of both; here B begins where a sentence does, whatever its class.
        while a[1] - a[0] + b[1] - b[0] > budget:
            if a[1] - a[0] <= b[1] - b[0]:
                b = (b[0], b[1] - 1)
            elif rng.random() < 0.5:
                a = (a[0] + 1, a[1])
            else:
                a = (a[0], a[1] - 1)
        return a, b


Drawer = Callable[[RowMaker, TextStore, int, np.random.Generator], Row]
"""Draws a row of one kind: a method of RowMaker."""

USUAL_ROWS: Mapping[str, Drawer] = {"text": RowMaker.text, "sentence": RowMaker.sentence, "pair": RowMaker.pair}


def row_maker(tokenizer: PreTrainedTokenizerBase) -> RowMaker:
    """Return a maker of rows with a tokenizer's special tokens; GPT-2's ends a text by its end-of-text token."""
    end = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
    return RowMaker(int(end if tokenizer.cls_token_id is None else tokenizer.cls_token_id), int(end))
