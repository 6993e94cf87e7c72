"""How many examples GLUE's tasks have to learn from, as BERT's Table 1 prints it (Devlin et al. 2019): plain data."""

from __future__ import annotations

TRAINING = {
    "MNLI": "392k",
    "QQP": "363k",
    "QNLI": "108k",
    "SST-2": "67k",
    "CoLA": "8.5k",
    "STS-B": "5.7k",
    "MRPC": "3.5k",
    "RTE": "2.5k",
}
