"""Each bundled relative is what defines its variant: in its tensors, its tokens and what it was trained for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from sklearn.metrics import roc_auc_score

from explorer.models.catalog import bundled
from explorer.models.families import Capability
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import Settings
from tests.rows import each_row

TEXT = (
    "The city lies on the northern bank of the river. It was founded in the twelfth century and became rich by trade.",
    "He was born in London and studied law. Later he became a member of the parliament and wrote several books.",
    "The film was released in the summer and received good reviews. Many critics praised the music and the acting.",
    "The ship left the harbour in the morning. After two days a storm came up and the crew had to turn back.",
    "In the second season the team won most of its games and finished first in the league.",
    "The army crossed the mountains in winter, and many soldiers died of cold and hunger on the way.",
)
STRINGS = (
    "Zürich – “naïve” 東京 😀",
    "\u202eabc\u0000\tx\n",
    " two  spaces ",
    "ﬁ ﷺ é é",
    "<s> </s> <mask>x",
    "🏳️‍🌈" * 20,
)


def opened(name: str) -> LoadedModel:
    if name not in bundled():
        pytest.skip(f"{name} is not bundled")
    with torch.inference_mode(False):
        return load_model(name, Settings(device="cpu", offline=True))


def test_the_distilled_one_has_half_the_layers_and_no_segments() -> None:
    student, teacher = opened("distilbert-mini"), opened("bert-mini")
    assert 2 * student.model.config.num_hidden_layers == teacher.model.config.num_hidden_layers
    assert not any("token_type" in name for name, _ in student.model.named_parameters())
    assert "token_type_ids" not in student.tokenizer("a", "b")


@torch.inference_mode()
def test_the_distilled_one_says_what_its_teacher_says_more_often_than_the_truth() -> None:
    student, teacher = opened("distilbert-mini"), opened("bert-mini")
    agreed = right = count = 0
    for sentence in TEXT:
        ids = teacher.tokenizer(sentence, return_tensors="pt")["input_ids"]
        rows = ids.repeat(ids.shape[1] - 2, 1)
        places = torch.arange(len(rows))
        truth = rows[places, places + 1].clone()
        rows[places, places + 1] = teacher.tokenizer.mask_token_id
        guesses = [
            loaded.logits(Capability.MLM, loaded.model(rows))[places, places + 1].argmax(-1)
            for loaded in (student, teacher)
        ]
        agreed += int((guesses[0] == guesses[1]).sum())
        right += int((guesses[0] == truth).sum())
        count += len(rows)
    assert agreed / count > 0.5
    assert agreed > right


@each_row("name", ["roberta-mini", "gpt2-mini"])
@each_row("text", STRINGS)
def test_every_string_comes_back_from_bytes(name: str, text: str) -> None:
    tokenizer = opened(name).tokenizer
    ids = tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
    assert tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text
    assert tokenizer.unk_token_id is None or tokenizer.unk_token_id not in ids


def test_roberta_has_one_segment_and_counts_positions_from_two() -> None:
    config = opened("roberta-mini").model.config
    assert config.type_vocab_size == 1
    assert config.pad_token_id == 1
    assert config.max_position_embeddings == 514


def test_albert_has_one_layer_for_all_depths_and_a_narrow_table() -> None:
    loaded = opened("albert-mini")
    model, config = loaded.model, loaded.model.config
    assert loaded.parameters <= 5_000_000
    assert config.num_hidden_layers == 6
    groups = model.albert.encoder.albert_layer_groups
    assert len(groups) == 1
    assert len(groups[0].albert_layers) == 1
    assert model.get_input_embeddings().weight.shape[1] == config.embedding_size < config.hidden_size


@torch.inference_mode()
def test_the_discriminator_finds_what_its_generator_replaced() -> None:
    generator, discriminator = opened("electra-mini-generator"), opened("electra-mini-discriminator")
    tables = [loaded.model.get_input_embeddings().weight for loaded in (generator, discriminator)]
    assert torch.equal(*tables), "they were one table while they were trained"
    dice = torch.Generator().manual_seed(0)
    scores: list[float] = []
    replaced: list[bool] = []
    for sentence in TEXT * 4:
        ids = generator.tokenizer(sentence, return_tensors="pt")["input_ids"]
        inner = torch.zeros_like(ids, dtype=torch.bool)
        inner[:, 1:-1] = True
        chosen = (torch.rand(ids.shape, generator=dice) < 0.2) & inner
        masked = ids.masked_fill(chosen, generator.tokenizer.mask_token_id)
        guesses = generator.logits(Capability.MLM, generator.model(masked)).softmax(-1)
        drawn = torch.multinomial(guesses[0], 1, generator=dice).T
        shown = torch.where(chosen, drawn, ids)
        found: Any = discriminator.logits(Capability.RTD, discriminator.model(shown))
        scores += found[inner].tolist()
        replaced += (shown != ids)[inner].tolist()
    assert 0.05 < sum(replaced) / len(replaced) < 0.3
    assert roc_auc_score(replaced, scores) > 0.75


@torch.inference_mode()
def test_gpt2_sees_nothing_to_its_right_and_prefers_words_in_order() -> None:
    loaded = opened("gpt2-mini")
    dice = torch.Generator().manual_seed(0)
    for sentence in TEXT:
        ids = loaded.tokenizer(sentence, return_tensors="pt")["input_ids"]
        changed = ids.clone()
        changed[0, -1] = 100
        assert torch.allclose(loaded.model(ids).logits[0, :-1], loaded.model(changed).logits[0, :-1], atol=1e-4)
        shuffled = ids[:, torch.randperm(ids.shape[1], generator=dice)]
        assert loaded.model(ids, labels=ids).loss < loaded.model(shuffled, labels=shuffled).loss - 1.0
