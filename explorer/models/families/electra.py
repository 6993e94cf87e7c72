"""ELECTRA: a generator and a discriminator (Clark et al. 2020)."""

from __future__ import annotations

from typing import Any

from explorer.models.families.family import (
    Architecture,
    Capability,
    Embeddings,
    FamilyNote,
    Head,
    Part,
    as_bert,
    decoder,
    embeddings,
    layer,
    times,
)


def _electra(c: Any) -> list[Part]:
    wide, narrow = c.hidden_size, c.embedding_size
    project = (
        []
        if wide == narrow
        else [Part(f"map {narrow} to {wide}", f"{narrow}·{wide} + {wide}", ("electra.embeddings_project.",))]
    )
    layers = times(c.num_hidden_layers, layer(wide, c.intermediate_size))
    return [
        embeddings("electra", c, narrow, c.type_vocab_size),
        *project,
        Part(f"{c.num_hidden_layers} layers", layers, ("electra.encoder.",)),
    ]


def _generator(c: Any) -> list[Part]:
    head = decoder(c.hidden_size, c.embedding_size, c.vocab_size)
    return [*_electra(c), Part("MLM head (decoder tied to the embeddings)", head, ("generator_",))]


def _discriminator(c: Any) -> list[Part]:
    wide = c.hidden_size
    return [*_electra(c), Part("RTD head", f"{wide}² + {wide} + {wide} + 1", ("discriminator_predictions.",))]


_EMBEDDINGS = Embeddings(stages=(("layer_norm", "embeddings.LayerNorm"), ("projection", "embeddings_project")))

GENERATOR = Architecture(
    "ELECTRA generator",
    "electra",
    "ElectraForMaskedLM",
    {Capability.MLM: Head(("generator_predictions", "generator_lm_head"))},
    as_bert("electra"),
    _EMBEDDINGS,
    declared="ElectraForMaskedLM",
    parts=_generator,
)
DISCRIMINATOR = Architecture(
    "ELECTRA discriminator",
    "electra",
    "ElectraForPreTraining",
    {Capability.RTD: Head(("discriminator_predictions",))},
    as_bert("electra"),
    _EMBEDDINGS,
    parts=_discriminator,
    fills_no_masks="a discriminator says of each token whether it was replaced. Its generator fills masks.",
)

ARCHITECTURES = (GENERATOR, DISCRIMINATOR)


def generator_of(discriminator: str) -> str:
    """Return the generator that belongs to a discriminator, by the naming of ELECTRA's published pairs and ours; the
    name itself if it doesn't tell.
    """
    before, name, after = discriminator.rpartition("discriminator")
    return f"{before}generator{after}" if name and "/" not in after else discriminator


NOTE = FamilyNote(
    ("ELECTRA discriminator", "ELECTRA generator"),
    "Clark et al. 2020",
    "A small generator fills the masks with likely words; the discriminator says of every token whether it was replaced, so "
    "it learns from all tokens and not from 15%.",
    "MLM (generator) + 50 · replaced tokens",
    "BERT's WordPiece",
)
