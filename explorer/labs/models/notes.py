"""Parameters as papers count them."""

PAPER_MILLIONS = {
    "google-bert/bert-base-uncased": 110,
    "google-bert/bert-large-uncased": 340,
    "FacebookAI/roberta-base": 125,
    "albert/albert-base-v2": 12,
    "albert/albert-xxlarge-v2": 235,
    "distilbert/distilbert-base-uncased": 66,
    "google/electra-small-discriminator": 14,
    "google/electra-base-discriminator": 110,
}
"""Millions of parameters as papers give them: Devlin et al. 2019, section 3; Sanh et al. 2019, Table 3; Lan et al. 2020 and
Clark et al. 2020, Table 1 each; RoBERTa's by Hu et al. 2021, Table 2."""
