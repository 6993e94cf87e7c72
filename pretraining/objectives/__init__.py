"""One objective a file; PRETRAINERS finds each by the name that a recipe gives."""

from __future__ import annotations

from typing import Any

from pretraining.objectives.albert import AlbertPretrainer
from pretraining.objectives.albert_body import AlbertBodyPretrainer
from pretraining.objectives.albert_order import AlbertOrderPretrainer
from pretraining.objectives.base import Pretrainer
from pretraining.objectives.bert import BertPretrainer
from pretraining.objectives.bert_pairs import BertPairsPretrainer
from pretraining.objectives.deberta import DebertaPretrainer
from pretraining.objectives.distilbert import DistilbertPretrainer
from pretraining.objectives.electra import ElectraPretrainer
from pretraining.objectives.gpt2 import Gpt2Pretrainer
from pretraining.objectives.roberta import RobertaPretrainer

PRETRAINERS: dict[str, type[Pretrainer[Any]]] = {
    "mlm+nsp": BertPretrainer,
    "nsp on matched pairs": BertPairsPretrainer,
    "distillation": DistilbertPretrainer,
    "full sentences": RobertaPretrainer,
    "disentangled": DebertaPretrainer,
    "module replacing": AlbertBodyPretrainer,
    "mlm+sop": AlbertPretrainer,
    "mlm+sop by votes": AlbertOrderPretrainer,
    "replaced tokens": ElectraPretrainer,
    "causal": Gpt2Pretrainer,
}
