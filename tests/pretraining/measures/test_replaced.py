"""Replaced tokens are scored over their own generator's samples; the area is scikit-learn's and an independent count's."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining, PreTrainedTokenizerBase

from explorer.errors import ModelUnavailableError
from pretraining.export import export_model
from pretraining.measures.measure import open_subject
from pretraining.measures.replaced import detections, measure_replaced


@pytest.fixture
def pair(tokenizer: PreTrainedTokenizerBase, tmp_path: Path) -> Path:
    """A random pair in folders side by side; the discriminator's, which is asked for."""
    torch.manual_seed(0)
    config = ElectraConfig(
        vocab_size=len(tokenizer),
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=130,
    )
    export_model(ElectraForMaskedLM(config), tokenizer, tmp_path / "tiny-generator")
    export_model(ElectraForPreTraining(config), tokenizer, tmp_path / "tiny-discriminator")
    return tmp_path / "tiny-discriminator"


def test_the_area_is_the_share_of_pairs_that_are_ranked_rightly(pair: Path, corpus: Path) -> None:
    subject = open_subject(pair, corpus / "wikitext.txt")
    scores, replaced, filled = detections(subject)
    assert len(scores) == len(subject.store.ids)
    assert not replaced[~filled].any()
    rows = 8
    assert int(filled.sum()) == pytest.approx(0.15 * len(scores), abs=rows)
    above = (scores[replaced][:, None] > scores[~replaced][None]).double()
    same = (scores[replaced][:, None] == scores[~replaced][None]).double()
    found = {measure.name: measure.value for measure in measure_replaced(subject)}
    assert found["rtd_auc"] == pytest.approx(float((above + same / 2).mean()), abs=1e-6)
    assert found["rtd_found"] == pytest.approx(float((scores[replaced] > 0).float().mean()))
    assert found["rtd_false"] == pytest.approx(float((scores[~replaced] > 0).float().mean()))


def test_a_discriminator_without_its_generator_is_told_so(pair: Path, corpus: Path) -> None:
    alone = pair.rename(pair.with_name("elsewhere-discriminator"))
    with pytest.raises(ModelUnavailableError, match="beside"):
        measure_replaced(open_subject(alone, corpus / "wikitext.txt"))
