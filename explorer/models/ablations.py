"""Ablations of pretraining, quoted from papers as plain data."""

from __future__ import annotations

from dataclasses import dataclass

BERT_TASKS = ("MNLI-m", "QNLI", "MRPC", "SST-2", "SQuAD 1.1")

BERT_TABLE_5 = (
    ("both directions, NSP", 84.4, 88.4, 86.7, 92.7, 88.5),
    ("both directions, no NSP", 83.9, 84.9, 86.5, 92.6, 87.9),
    ("left to right, no NSP", 82.1, 84.3, 77.5, 92.1, 77.8),
)
"""Devlin et al. 2019, Table 5, base size: the kind of pretraining, and its score on each of BERT_TASKS."""


@dataclass(frozen=True)
class InputFormat:
    """A row of RoBERTa's Table 2: the format of the training inputs, whether NSP is trained, and the scores in points."""

    name: str
    nsp: bool
    squad1: float
    squad2: float
    mnli: float
    sst2: float
    race: float

    @property
    def title(self) -> str:
        """The format's name with the objective."""
        return f"{self.name}, {'NSP' if self.nsp else 'no NSP'}"


ROBERTA_TABLE_2 = (
    InputFormat("segment pair", True, 90.4, 78.7, 84.0, 92.9, 64.2),
    InputFormat("sentence pair", True, 88.7, 76.2, 82.9, 92.1, 63.0),
    InputFormat("full sentences", False, 90.4, 79.1, 84.7, 92.5, 64.8),
    InputFormat("doc sentences", False, 90.6, 79.7, 84.7, 92.7, 65.6),
)
"""Liu et al. 2019, Table 2, base size, BookCorpus and Wikipedia; BERT's own format comes first."""

BERT_TABLE_8 = (
    ((80, 10, 10), 84.2, 95.4, 94.9),
    ((100, 0, 0), 84.3, 94.9, 94.0),
    ((80, 0, 20), 84.1, 95.2, 94.6),
    ((80, 20, 0), 84.4, 95.2, 94.7),
    ((0, 20, 80), 83.7, 94.8, 94.6),
    ((0, 0, 100), 83.6, 94.9, 94.6),
)
"""Devlin et al. 2019, Appendix C.2, Table 8: percent shown as [MASK], kept, random; scores on MNLI and on named entities (NER),
both fine-tuned, and on NER by features alone."""
