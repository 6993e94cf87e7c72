"""What each member of the family changed, in a few words, with the paper that says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FamilyNote:
    """One family. families: its names in the catalog. objective: what it learns by, as a formula or a few words."""

    families: tuple[str, ...]
    paper: str
    changed: str
    objective: str
    pieces: str

    @property
    def name(self) -> str:
        """What the page calls it."""
        return self.families[0].split(" ")[0].split("-v2")[0] if len(self.families) > 1 else self.families[0]


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

NOTES = (
    FamilyNote(
        ("BERT",),
        "Devlin et al. 2019",
        "The encoder reads both sides of a word at once. To make that a task, 15% of the tokens are chosen and guessed from the "
        "rest (80% masked, 10% random, 10% kept), and pairs of segments are judged.",
        "MLM + NSP",
        "WordPiece, 30,522",
    ),
    FamilyNote(
        ("RoBERTa",),
        "Liu et al. 2019",
        "The same network, trained longer on ten times the text, with new masks at every pass (dynamic masking), full sentences "
        "and no pairs.",
        "MLM",
        "byte-level BPE, 50,265",
    ),
    FamilyNote(
        ("ALBERT",),
        "Lan et al. 2020",
        "Embeddings of width 128 that are mapped to the layers' width, one layer that is used at every depth, masks of up to "
        "three words, and order in place of topic for pairs.",
        "MLM (n-grams) + SOP",
        "SentencePiece unigram, 30,000",
    ),
    FamilyNote(
        ("DistilBERT",),
        "Sanh et al. 2019",
        "Every second layer of BERT, no segments and no pooler, trained to say what its teacher says.",
        "5·T²·KL + 2·MLM + 1·cosine, T = 2 (its training code's; the paper names the terms alone)",
        "BERT's WordPiece",
    ),
    FamilyNote(
        ("ELECTRA discriminator", "ELECTRA generator"),
        "Clark et al. 2020",
        "A small generator fills the masks with likely words; the discriminator says of every token whether it was replaced, so "
        "it learns from all tokens and not from 15%.",
        "MLM (generator) + 50 · replaced tokens",
        "BERT's WordPiece",
    ),
    FamilyNote(
        ("DeBERTa", "DeBERTa-v2/v3"),
        "He et al. 2021; He et al. 2023",
        "What a token is and where it stands are two vectors; attention adds content-to-content, content-to-position and "
        "position-to-content. Version 3 learns as ELECTRA does.",
        "MLM; version 3: replaced tokens",
        "byte-level BPE, 50,265; version 3: SentencePiece, 128,100",
    ),
    FamilyNote(
        ("GPT-2",),
        "Radford et al. 2019",
        "The other direction: each token sees what stands to its left and nothing else, so it can write. LayerNorm comes before "
        "attention and feed-forward net.",
        "the next token",
        "byte-level BPE, 50,257",
    ),
    FamilyNote(
        ("ModernBERT",),
        "Warner et al. 2024",
        "BERT built with what was learned since: rotary positions, attention to near tokens in two layers of three, gated "
        "feed-forward nets, 8,192 tokens.",
        "MLM (30%)",
        "byte-level BPE, 50,368",
    ),
)


def note_of(family: str) -> FamilyNote:
    """The note that tells of a family of the catalog; raises KeyError."""
    return {name: note for note in NOTES for name in note.families}[family]
