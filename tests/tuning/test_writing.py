"""Runs that put meanings into words: their rows, their loss and their texts, against transformers and peft."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.models.loaded_model import LoadedModel, load_model
from explorer.settings import BUNDLED_MODELS, Settings
from explorer.tasks.formats.e2e import E2E
from explorer.tasks.task import WRITTEN, Example, TaskData
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.files.export import export_adapter
from explorer.tuning.kinds import KINDS
from explorer.tuning.merging import merged
from explorer.tuning.methods import METHODS
from explorer.tuning.rows import Rows, never
from explorer.tuning.spec import RunSpec
from explorer.tuning.writing import WritingTraining, opening_of, prompt_of, rows_of, write
from tests.engine.records import record
from tests.rows import each_row
from tests.tuning.samples import frozen_copy, is_unchanged, tiny_loaded

ABLE = [method.slug for method in METHODS if method.trains_body]
MEANINGS = (
    Example("name : Bar Olmo | food : Italian", None, 0.0, ("Bar Olmo is Italian.", "Try Italian food at Bar Olmo.")),
    Example("name : Quill | Type : pub", None, 0.0, ("Quill is a pub.",)),
    Example("name : The Mill | Type : pub | area : riverside", None, 0.0, ("The Mill is a riverside pub.", "A pub.")),
)


@pytest.fixture(scope="module")
def gpt2() -> LoadedModel:
    return load_model("gpt2-mini", Settings(device="cpu"))


def adapted_by(loaded: LoadedModel, method: str, moved: bool = True) -> Adapted:
    made = adapt(loaded, 1, RunSpec(loaded.model_id, "e2e", method, prefix_length=4, bottleneck=8), WRITTEN)
    draw = torch.Generator().manual_seed(1)
    if moved:
        with torch.no_grad():
            for parameter in made.trainable().values():
                parameter += 0.05 * torch.randn(parameter.shape, generator=draw)
    return made


def training_of(adapted: Adapted, rows: Rows, **options: Any) -> WritingTraining:
    spec = RunSpec(
        "gpt2-mini", "e2e", adapted.spec.method, prefix_length=4, bottleneck=8, **{"batch_size": 2, **options}
    )
    return WritingTraining(adapted, E2E, rows, rows, spec, 1e-2)


class TestRows:
    def test_a_row_is_a_meaning_with_one_of_its_texts(self, gpt2: LoadedModel) -> None:
        rows = rows_of(gpt2, MEANINGS, 128)
        assert rows.labels.tolist() == [0, 0, 1, 2, 2]
        assert rows.examples == MEANINGS
        for row, text in zip(rows.inputs, [text for one in MEANINGS for text in one.answers], strict=True):
            wanted = [label for label in row["labels"] if label != IGNORED_LABEL]
            assert gpt2.tokenizer.decode(wanted[:-1]) == f" {text}"
            assert wanted[-1] == gpt2.tokenizer.eos_token_id
            assert row["input_ids"][-len(wanted) :] == wanted

    def test_what_is_too_long_loses_its_end_and_is_counted(self, gpt2: LoadedModel) -> None:
        shortest = len(prompt_of(gpt2, MEANINGS[0].text)) + 3
        rows = rows_of(gpt2, MEANINGS[:1], shortest)
        assert [len(row["input_ids"]) for row in rows.inputs] == [shortest] * 2
        assert rows.cut == 2

    def test_a_meaning_without_room_for_a_text_is_refused(self, gpt2: LoadedModel) -> None:
        with pytest.raises(BadInputError, match="shorter"):
            rows_of(gpt2, MEANINGS, 4)


class TestLoss:
    @each_row("method", ABLE)
    def test_it_is_transformers_own_over_the_texts_tokens(self, gpt2: LoadedModel, method: str) -> None:
        adapted = adapted_by(gpt2, method)
        rows = rows_of(gpt2, MEANINGS, 120)
        training = training_of(adapted, rows)
        inputs, _ = rows.batch(range(len(rows)), gpt2.device)
        with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
            patch.setattr("explorer.tuning.reading.has_bfloat16", lambda device: False)
            own = float(training._batch_loss(list(range(len(rows)))))
            theirs = float(adapted.model(**inputs).loss)
        assert own == pytest.approx(theirs, abs=1e-4)

    def test_training_lowers_it_and_leaves_the_shared_model_alone(self, gpt2: LoadedModel) -> None:
        before = frozen_copy(gpt2)
        training = training_of(adapted_by(gpt2, "lora", moved=False), rows_of(gpt2, MEANINGS, 128), epochs=6)
        first = training._loss_of(training.held_out, 3, never)
        assert sum(update.rows for update in training.updates()) == 6 * len(training.train_rows)
        assert training._loss_of(training.held_out, 3, never) < first - 0.5
        assert is_unchanged(gpt2, before)


class TestTexts:
    @each_row("method", ["lora", "full", "prefix", "houlsby", "ia3"])
    def test_a_batch_writes_what_generate_writes_alone(self, gpt2: LoadedModel, method: str) -> None:
        adapted = adapted_by(gpt2, method)
        prompts = [prompt_of(gpt2, one.text) for one in MEANINGS]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("explorer.tuning.reading.has_bfloat16", lambda device: False)
            own = write(adapted, prompts, most=12)
        model: Any = adapted.model
        for text, prompt in zip(own, prompts, strict=True):
            ids = torch.tensor([prompt])
            given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            made = model.generate(**given, do_sample=False, max_new_tokens=12, pad_token_id=gpt2.tokenizer.eos_token_id)
            theirs = gpt2.tokenizer.decode(made[0, len(prompt) :], skip_special_tokens=True)
            assert text == " ".join(theirs.split())

    @pytest.mark.parametrize("method", ["prefix", "prompt"])
    def test_the_cache_of_virtual_tokens_gives_the_logits_of_the_whole(self, gpt2: LoadedModel, method: str) -> None:
        adapted = adapted_by(gpt2, method)
        ids = torch.tensor([prompt_of(gpt2, MEANINGS[0].text)])
        opening = opening_of(adapted)
        assert opening.length == 4
        with torch.no_grad():
            whole = adapted.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, -ids.shape[1] :]
            parted = adapted.fork(input_ids=ids, past_key_values=opening.cache, use_cache=True).logits
        assert torch.allclose(whole, parted, atol=1e-4)

    def test_a_run_is_judged_by_what_it_writes(self, gpt2: LoadedModel) -> None:
        rows = rows_of(gpt2, MEANINGS, 128)
        scores, judged = training_of(adapted_by(gpt2, "lora"), rows).judge(rows)
        assert [one.asked for one in judged] == [one.text for one in MEANINGS]
        assert [one.right for one in judged] == [one.answers for one in MEANINGS]
        assert set(scores) == {"BLEU", "NIST", "METEOR", "ROUGE-L", "CIDEr", "loss"}


@each_row("method", ["lora", "full", "bitfit", "ia3"])
def test_merged_it_says_the_same(gpt2: LoadedModel, method: str) -> None:
    adapted = adapted_by(gpt2, method)
    ids = torch.tensor([prompt_of(gpt2, MEANINGS[0].text)])
    with torch.no_grad():
        assert torch.allclose(merged(adapted)(input_ids=ids).logits, adapted.model(input_ids=ids).logits, atol=1e-4)


@pytest.mark.parametrize(
    ("family", "method", "said"),
    [("BERT", "lora", "left to right"), ("GPT-2", "head", "own"), ("GPT-2", "distill", "student")],
)
def test_what_cannot_write_says_so(family: str, method: str, said: str) -> None:
    loaded = tiny_loaded(family)
    with pytest.raises(BadInputError, match=said):
        adapt(loaded, 1, RunSpec(loaded.model_id, "e2e", method), WRITTEN)


def test_every_kind_names_a_class_and_a_script() -> None:
    import transformers

    from explorer.tuning.files.script import _template

    for kind in KINDS.values():
        assert hasattr(transformers, kind.model_class)
        assert "{{prepare}}" in _template(kind.template)


def test_it_goes_home_as_an_adapter_with_its_meanings(gpt2: LoadedModel, tmp_path: Path) -> None:
    adapted = adapted_by(gpt2, "lora")
    facts = record(
        kind=WRITTEN, spec=adapted.spec, task_title=E2E.title, labels=(), columns=E2E.columns, metrics=E2E.metrics
    )
    data = TaskData(E2E, "e2e", MEANINGS, {"validation": MEANINGS[:1]})
    with zipfile.ZipFile(export_adapter(adapted, facts, data, tmp_path / "adapter.zip")) as archive:
        archive.extractall(tmp_path)
    lines = (tmp_path / "data" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["answers"] for line in lines] == [list(one.answers) for one in MEANINGS]
    compile((tmp_path / "train.py").read_text(encoding="utf-8"), "train.py", "exec")
    assert "AutoModelForCausalLM" in (tmp_path / "README.md").read_text(encoding="utf-8")
    base = AutoModelForCausalLM.from_pretrained(BUNDLED_MODELS / "gpt2-mini", dtype="float32")
    model = PeftModel.from_pretrained(base, str(tmp_path)).eval()
    ids = torch.tensor([prompt_of(gpt2, MEANINGS[0].text)])
    with torch.no_grad():
        assert torch.allclose(model(input_ids=ids).logits, adapted.model(input_ids=ids).logits, atol=1e-4)
