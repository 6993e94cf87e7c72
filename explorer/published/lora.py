"""LoRA's tables, quoted (Hu et al. 2021): plain data. Scores are in points, counts as the paper writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

GLUE = ("MNLI", "SST-2", "MRPC", "CoLA", "QNLI", "QQP", "RTE", "STS-B")
"""The columns of Table 2, in its order."""


@dataclass(frozen=True)
class Latency:
    """A column of Table 1: milliseconds of one forward pass of GPT-2 medium, the mean of 100.

    adapters: the numbers of AdapterL and AdapterH there. Each pair is the time, and the slowdown as the paper prints it.
    """

    batch: int
    length: int
    adapters: str
    lora: float
    adapter_l: tuple[float, str]
    adapter_h: tuple[float, str]


TABLE_1 = (
    Latency(32, 512, "0.5M", 1449.4, (1482.0, "+2.2%"), (1492.2, "+3.0%")),
    Latency(16, 256, "11M", 338.0, (354.8, "+5.0%"), (366.3, "+8.4%")),
    Latency(1, 128, "11M", 19.8, (23.9, "+20.7%"), (25.8, "+30.3%")),
)


@dataclass(frozen=True)
class OnGlue:
    """A row of Table 2: a model and a method on GLUE, and the average as the paper prints it.

    restricted: the rows with a dagger, set up as Houlsby's for a fair comparison.
    """

    model: str
    method: str
    trainable: str
    scores: tuple[float, ...]
    average: str
    restricted: bool = False

    @property
    def title(self) -> str:
        """The method, with its dagger."""
        return f"{self.method}†" if self.restricted else self.method

    @property
    def name(self) -> str:
        """Tells the row from every other one."""
        return f"{self.model}, {self.title} {self.trainable}"


def average(scores: Iterable[float]) -> float:
    """GLUE's one number, in the unit of its scores: the mean, in which every task counts alike."""
    return fmean(scores)


BASE, LARGE, XXL = "RoBERTa-base", "RoBERTa-large", "DeBERTa-XXL"
TABLE_2 = (
    OnGlue(BASE, "FT", "125.0M", (87.6, 94.8, 90.2, 63.6, 92.8, 91.9, 78.7, 91.2), "86.4"),
    OnGlue(BASE, "BitFit", "0.1M", (84.7, 93.7, 92.7, 62.0, 91.8, 84.0, 81.5, 90.8), "85.2"),
    OnGlue(BASE, "AdptD", "0.3M", (87.1, 94.2, 88.5, 60.8, 93.1, 90.2, 71.5, 89.7), "84.4"),
    OnGlue(BASE, "AdptD", "0.9M", (87.3, 94.7, 88.4, 62.6, 93.0, 90.6, 75.9, 90.3), "85.4"),
    OnGlue(BASE, "LoRA", "0.3M", (87.5, 95.1, 89.7, 63.4, 93.3, 90.8, 86.6, 91.5), "87.2"),
    OnGlue(LARGE, "FT", "355.0M", (90.2, 96.4, 90.9, 68.0, 94.7, 92.2, 86.6, 92.4), "88.9"),
    OnGlue(LARGE, "LoRA", "0.8M", (90.6, 96.2, 90.9, 68.2, 94.9, 91.6, 87.4, 92.6), "89.0"),
    OnGlue(LARGE, "AdptP", "3.0M", (90.2, 96.1, 90.2, 68.3, 94.8, 91.9, 83.8, 92.1), "88.4", True),
    OnGlue(LARGE, "AdptP", "0.8M", (90.5, 96.6, 89.7, 67.8, 94.8, 91.7, 80.1, 91.9), "87.9", True),
    OnGlue(LARGE, "AdptH", "6.0M", (89.9, 96.2, 88.7, 66.5, 94.7, 92.1, 83.4, 91.0), "87.8", True),
    OnGlue(LARGE, "AdptH", "0.8M", (90.3, 96.3, 87.7, 66.3, 94.7, 91.5, 72.9, 91.5), "86.4", True),
    OnGlue(LARGE, "LoRA", "0.8M", (90.6, 96.2, 90.2, 68.2, 94.8, 91.6, 85.2, 92.3), "88.6", True),
    OnGlue(XXL, "FT", "1500.0M", (91.8, 97.2, 92.0, 72.0, 96.0, 92.7, 93.9, 92.9), "91.1"),
    OnGlue(XXL, "LoRA", "4.7M", (91.9, 96.9, 92.6, 72.4, 96.0, 92.9, 94.9, 93.0), "91.3"),
)


@dataclass(frozen=True)
class Written:
    """A row of Table 3: what wrote the E2E challenge's test sentences, and what they scored."""

    model: str
    method: str
    trainable: str
    bleu: float
    nist: float
    meteor: float
    rouge_l: float
    cider: float

    @property
    def values(self) -> tuple[float, ...]:
        """The five metrics, in the table's order."""
        return self.bleu, self.nist, self.meteor, self.rouge_l, self.cider


TABLE_3 = (
    Written("GPT-2 medium", "full", "354.92M", 68.2, 8.62, 46.2, 71.0, 2.47),
    Written("GPT-2 medium", "AdapterL", "0.37M", 66.3, 8.41, 45.0, 69.8, 2.40),
    Written("GPT-2 medium", "AdapterL", "11.09M", 68.9, 8.71, 46.1, 71.3, 2.47),
    Written("GPT-2 medium", "AdapterH", "11.09M", 67.3, 8.50, 46.0, 70.7, 2.44),
    Written("GPT-2 medium", "top 2 layers", "25.19M", 68.1, 8.59, 46.0, 70.8, 2.41),
    Written("GPT-2 medium", "PreLayer", "0.35M", 69.7, 8.81, 46.1, 71.4, 2.49),
    Written("GPT-2 medium", "LoRA", "0.35M", 70.4, 8.85, 46.8, 71.8, 2.53),
    Written("GPT-2 large", "full", "774.03M", 68.5, 8.78, 46.0, 69.9, 2.45),
    Written("GPT-2 large", "AdapterL", "0.88M", 69.1, 8.68, 46.3, 71.4, 2.49),
    Written("GPT-2 large", "AdapterL", "23.00M", 68.9, 8.70, 46.1, 71.3, 2.45),
    Written("GPT-2 large", "PreLayer", "0.77M", 70.3, 8.85, 46.2, 71.7, 2.47),
    Written("GPT-2 large", "LoRA", "0.77M", 70.4, 8.89, 46.8, 72.0, 2.47),
)
"""The E2E NLG Challenge."""


@dataclass(frozen=True)
class OnGpt3:
    """A row of Table 4: WikiSQL and MNLI-m in points of accuracy, SAMSum as ROUGE-1, -2 and -L."""

    method: str
    trainable: str
    wikisql: float
    mnli: float
    samsum: str


TABLE_4 = (
    OnGpt3("FT", "175,255.8M", 73.8, 89.5, "52.0/28.0/44.5"),
    OnGpt3("BitFit", "14.2M", 71.3, 91.0, "51.3/27.4/43.5"),
    OnGpt3("PreEmbed", "3.2M", 63.1, 88.6, "48.3/24.2/40.5"),
    OnGpt3("PreLayer", "20.2M", 70.1, 89.5, "50.8/27.3/43.5"),
    OnGpt3("AdapterH", "7.1M", 71.9, 89.8, "53.0/28.9/44.8"),
    OnGpt3("AdapterH", "40.1M", 73.2, 91.5, "53.2/29.0/45.1"),
    OnGpt3("LoRA", "4.7M", 73.4, 91.7, "53.8/29.8/45.9"),
    OnGpt3("LoRA", "37.7M", 74.0, 91.6, "53.4/29.2/45.1"),
)

TABLE_5 = (
    ("q", 8, 70.4, 91.0),
    ("k", 8, 70.0, 90.8),
    ("v", 8, 73.0, 91.0),
    ("o", 8, 73.2, 91.3),
    ("q, k", 4, 71.4, 91.3),
    ("q, v", 4, 73.7, 91.3),
    ("q, k, v, o", 2, 73.7, 91.7),
)
"""GPT-3 with 18M trained parameters: the adapted matrices, the rank that they then have, WikiSQL and MultiNLI."""

RANKS = (1, 2, 4, 8, 64)
TABLE_6 = (
    ("WikiSQL", "W_q", (68.8, 69.6, 70.5, 70.4, 70.0)),
    ("WikiSQL", "W_q, W_v", (73.4, 73.3, 73.7, 73.8, 73.5)),
    ("WikiSQL", "W_q, W_k, W_v, W_o", (74.1, 73.7, 74.0, 74.0, 73.9)),
    ("MultiNLI", "W_q", (90.7, 90.9, 91.1, 90.7, 90.7)),
    ("MultiNLI", "W_q, W_v", (91.3, 91.4, 91.3, 91.6, 91.4)),
    ("MultiNLI", "W_q, W_k, W_v, W_o", (91.2, 91.7, 91.7, 91.5, 91.4)),
)
"""Validation accuracy of GPT-3 at each of RANKS."""


@dataclass(frozen=True)
class Amplified:
    """A row of Table 7: norms of GPT-3's W_q of layer 48 in the first r directions of ΔW, of W, and in random ones."""

    rank: int
    of_delta: float
    of_weight: float
    of_random: float
    delta_norm: float
    factor: str


WEIGHT_NORM = 61.95
"""Of the same W_q, Frobenius as all of Table 7."""
TABLE_7 = (Amplified(4, 0.32, 21.67, 0.02, 6.91, "21.5"), Amplified(64, 1.90, 37.71, 0.33, 3.57, "1.88"))
