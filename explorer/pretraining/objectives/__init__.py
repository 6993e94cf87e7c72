"""One objective a file; PRETRAINERS finds each by the name that a recipe gives."""

from __future__ import annotations

from typing import Any

from explorer.pretraining.objectives.albert import AlbertPretrainer
from explorer.pretraining.objectives.albert_body import AlbertBodyPretrainer
from explorer.pretraining.objectives.albert_order import AlbertOrderPretrainer
from explorer.pretraining.objectives.base import Pretrainer
from explorer.pretraining.objectives.bert import BertPretrainer
from explorer.pretraining.objectives.bert_pairs import BertPairsPretrainer
from explorer.pretraining.objectives.distilbert import DistilbertPretrainer
from explorer.pretraining.objectives.electra import ElectraPretrainer
from explorer.pretraining.objectives.gpt2 import Gpt2Pretrainer
from explorer.pretraining.objectives.roberta import RobertaPretrainer

PRETRAINERS: dict[str, type[Pretrainer[Any]]] = {
    "mlm+nsp": BertPretrainer,
    "nsp on matched pairs": BertPairsPretrainer,
    "distillation": DistilbertPretrainer,
    "full sentences": RobertaPretrainer,
    "module replacing": AlbertBodyPretrainer,
    "mlm+sop": AlbertPretrainer,
    "mlm+sop by votes": AlbertOrderPretrainer,
    "replaced tokens": ElectraPretrainer,
    "causal": Gpt2Pretrainer,
}
