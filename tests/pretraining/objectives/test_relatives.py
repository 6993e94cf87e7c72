"""What makes each relative itself: the student's layers, the shared layer, the masks drawn anew, no segments, the left alone."""

from __future__ import annotations

import pytest
import torch
from transformers import BertForPreTraining, PreTrainedTokenizerBase

from explorer.models.shortening import half_of, layers_kept
from explorer.objectives import losses
from pretraining.objectives import PRETRAINERS
from pretraining.objectives.base import Place, Pretrainer
from pretraining.objectives.distilbert import student_of
from pretraining.starts import distilbert
from tests.pretraining.conftest import tiny_model
from tests.pretraining.objectives.tiny import RECIPES


@pytest.fixture(autouse=True)
def _no_download(monkeypatch: pytest.MonkeyPatch, tokenizer: PreTrainedTokenizerBase) -> None:
    monkeypatch.setattr(distilbert, "load_tokenizer", lambda _: tokenizer)


def made(objective: str, place: Place) -> Pretrainer:
    return PRETRAINERS[objective](RECIPES[objective], place)


@pytest.fixture
def teacher() -> BertForPreTraining:
    torch.manual_seed(1)
    bert = tiny_model(60, layers=4).eval()
    for parameter in bert.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return bert


@pytest.mark.parametrize(
    ("count", "kept"), [(12, (0, 2, 4, 7, 9, 11)), (6, (0, 2, 5)), (4, (0, 3)), (2, (0,)), (1, (0,))]
)
def test_the_kept_layers_are_distilbert_s(count: int, kept: tuple[int, ...]) -> None:
    assert layers_kept(count, half_of(count), "first_to_last") == kept


def test_a_student_has_every_second_layer_and_the_head_of_its_teacher(teacher: BertForPreTraining) -> None:
    student = student_of(teacher)
    assert student.config.n_layers == 2
    for number, layer in enumerate(student.distilbert.transformer.layer):
        taken = teacher.bert.encoder.layer[(0, 3)[number]]
        assert torch.equal(layer.ffn.lin1.weight, taken.intermediate.dense.weight)
        assert torch.equal(layer.attention.q_lin.bias, taken.attention.self.query.bias)
    names = " ".join(name for name, _ in student.named_parameters())
    assert "token_type" not in names
    assert "pooler" not in names
    assert student.vocab_projector.weight is student.distilbert.embeddings.word_embeddings.weight


def test_a_student_of_the_kept_layers_alone_computes_what_its_teacher_does(teacher: BertForPreTraining) -> None:
    """With the layers between made to do nothing, teacher and student are one function, head included."""
    student = student_of(teacher).eval()
    teacher.bert.encoder.layer = torch.nn.ModuleList([teacher.bert.encoder.layer[0], teacher.bert.encoder.layer[3]])
    ids = torch.randint(0, 60, (2, 9))
    with torch.inference_mode():
        torch.testing.assert_close(student(ids).logits, teacher(ids).prediction_logits, atol=1e-4, rtol=1e-4)


def test_the_same_text_is_masked_anew_each_time(place: Place) -> None:
    """Dynamic masking: among many steps some rows show the same text, and hardly ever the same masks."""
    pretrainer = made("full sentences", place)
    seen: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for step in range(40):
        batch = pretrainer.draw(step, pretrainer.recipe.stages[0])
        for text, shown in zip(batch.original_ids.tolist(), batch.input_ids.tolist(), strict=True):
            seen.setdefault(tuple(text), []).append(tuple(shown))
    again = [masked for masked in seen.values() if len(masked) > 1]
    assert len(again) > 10
    assert sum(len(set(masked)) for masked in again) > 0.9 * sum(map(len, again))


@pytest.mark.parametrize("objective", ["full sentences", "distillation"])
def test_roberta_and_distilbert_are_given_no_segments(
    objective: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrainer = made(objective, place)
    given: list[set[str]] = []
    body = pretrainer.model.base_model
    monkeypatch.setattr(body, "forward", lambda *_, **inputs: given.append(set(inputs)) or pytest.skip.Exception)
    losses.encode(pretrainer.model, pretrainer.draw(0, pretrainer.recipe.stages[0]))
    assert "token_type_ids" not in given[0]
    assert pretrainer.model.config.model_type != "roberta" or pretrainer.model.config.type_vocab_size == 1


def test_roberta_begins_where_bert_does_on_a_text_of_whole_words(
    place: Place, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Same positions and layers: with the same embeddings put in, the states are bert-mini's."""
    pretrainer = made("full sentences", place)
    bert = BertForPreTraining.from_pretrained(place.models / "bert-mini").eval()
    roberta = pretrainer.model.eval()
    words = torch.randn(1, 7, 32)
    with torch.inference_mode():
        expected = bert.bert(inputs_embeds=words).last_hidden_state
        torch.testing.assert_close(
            roberta.roberta(inputs_embeds=words).last_hidden_state, expected, atol=1e-4, rtol=1e-4
        )


def test_gpt2_sees_the_left_alone_and_its_loss_is_transformers_own(place: Place) -> None:
    made("full sentences", place).export(place.models)
    pretrainer = made("causal", place)
    model = pretrainer.model.eval()
    batch = pretrainer.draw(0, pretrainer.recipe.stages[0])
    assert bool((batch.attention_mask == 1).all())
    with torch.inference_mode():
        own = model(batch.input_ids, labels=batch.input_ids).loss
        changed = batch.input_ids.clone()
        changed[:, -1] = 5
        before, after = model(batch.input_ids).logits, model(changed).logits
    assert float(pretrainer.loss(batch, 0).total) == pytest.approx(float(own), rel=1e-4)
    torch.testing.assert_close(before[:, :-1], after[:, :-1])
    assert model.lm_head.weight is model.transformer.wte.weight
