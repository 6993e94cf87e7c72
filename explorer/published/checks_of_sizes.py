"""Published sizes of models, each counted again tensor by tensor from the sizes in its config."""

from __future__ import annotations

from explorer.models import published
from explorer.published import counts
from explorer.published.check import Check

_TENS = "Rounded to tens it is the paper's figure."

_ELECTRA = {"num_hidden_layers": 12, "vocab_size": 30522}
_SMALL = {**_ELECTRA, "hidden_size": 256, "intermediate_size": 1024, "embedding_size": 128}
_ELECTRA_BASE = {**_ELECTRA, "hidden_size": 768, "intermediate_size": 3072, "embedding_size": 768}
_ALBERTS = (
    ("base", "12M", 768, 12, ""),
    ("large", "18M", 1024, 24, ""),
    ("xlarge", "60M", 2048, 24, _TENS),
    ("xxlarge", "235M", 4096, 12, "The paper gives no breakdown; even with both heads it is {instead}."),
)
"""Name, millions in Table 1, width, layers, and what explains a difference."""

_WITH_HEADS = "every tensor, with the pretraining heads; a tied one once"
_ALONE = "every tensor of the encoder, without the heads"


def _albert(name: str, millions: str, wide: int, layers: int, why: str) -> Check:
    inputs = {**counts.ALBERT, "hidden_size": wide, "intermediate_size": 4 * wide, "num_hidden_layers": layers}
    instead = counts.with_heads("ALBERT") if "{instead}" in why else None
    title = f"ALBERT-{name}, parameters"
    return Check("albert", "Table 1", title, millions, _ALONE, counts.albert(), inputs, why, instead)


_SHARING = {"everything": "", "attention": "ffn", "ffn": "attention", "nothing": "all"}
"""What is shared, as the quoted tables call it, and what each layer then has of its own."""

_BY_POOLER = "Without the pooler it is {instead}; the rows of shared layers agree with the pooler counted."


def _sharing(table: str, shared: str, width: int, millions: int) -> Check:
    apart = _SHARING[shared]
    inputs = {**counts.ALBERT, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    inputs["embedding_size"] = width
    called = {"ffn": "the feed-forward net", "attention": "the attention"}.get(shared, shared)
    said = f"ALBERT-base, {called} shared, E = {width}"
    why = _BY_POOLER if shared == "nothing" else ""
    instead = counts.albert(apart, pooler=False) if why else None
    return Check("albert", table, said, f"{millions}M", _ALONE, counts.albert(apart), inputs, why, instead)


CHECKS = (
    Check(
        *("bert", "section 3", "BERT-base, parameters", "110M", _WITH_HEADS, counts.with_heads("BERT")),
        *(counts.BERT_BASE, "Without its heads it is {instead}.", counts.encoder("BERT")),
    ),
    Check(
        *("bert", "section 3", "BERT-large, parameters", "340M", _WITH_HEADS, counts.with_heads("BERT")),
        *(counts.BERT_LARGE, _TENS),
    ),
    Check(
        *("roberta", "text", "RoBERTa-large, parameters", "355M", _WITH_HEADS, counts.with_heads("RoBERTa")),
        counts.ROBERTA_LARGE,
    ),
    Check(
        *("roberta", "text", "RoBERTa-base, parameters", "125M", _WITH_HEADS, counts.with_heads("RoBERTa")),
        counts.ROBERTA_BASE,
    ),
    Check(
        *("distilbert", "Table 3", "DistilBERT, parameters", "66M", _ALONE, counts.encoder("DistilBERT")),
        *(counts.DISTILBERT, "With its MLM head it is {instead}.", counts.with_heads("DistilBERT")),
    ),
    *(_albert(*row) for row in _ALBERTS),
    *(_sharing("Table 3", shared, row[0], row[1]) for shared, rows in published.ALBERT_TABLE_3 for row in rows),
    *(_sharing("Table 4", shared, row[0], row[1]) for shared, rows in published.ALBERT_TABLE_4 for row in rows),
    Check(
        *("electra", "Table 1", "ELECTRA-small (discriminator), parameters", "14M", _WITH_HEADS),
        *(counts.with_heads("ELECTRA discriminator"), _SMALL),
    ),
    Check(
        *("electra", "Table 1", "ELECTRA-base (discriminator), parameters", "110M", _WITH_HEADS),
        *(counts.with_heads("ELECTRA discriminator"), _ELECTRA_BASE, _TENS),
    ),
    Check(
        *("deberta", "text", "DeBERTa-XXL (v2), parameters", "1.5B", _WITH_HEADS),
        *(counts.with_heads("DeBERTa-v2/v3"), counts.DEBERTA),
        "Without the embeddings of words it is {instead}; what the paper counts is not said.",
        lambda **sizes: counts.with_heads("DeBERTa-v2/v3")(**sizes) - sizes["vocab_size"] * sizes["hidden_size"],
        unexplained=True,
    ),
    Check(
        *("gpt2", "as released", "GPT-2 medium, parameters", "355M", _WITH_HEADS, counts.with_heads("GPT-2")),
        counts.GPT2_MEDIUM,
    ),
    Check(
        *("gpt2", "as released", "GPT-2 large, parameters", "774M", _WITH_HEADS, counts.with_heads("GPT-2")),
        counts.GPT2_LARGE,
    ),
)
