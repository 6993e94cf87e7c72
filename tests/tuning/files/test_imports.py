from __future__ import annotations

import json
import pickle
import shutil
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save
from torch import Tensor
from transformers import AutoModelForSequenceClassification

from explorer.errors import BadInputError
from explorer.tuning.adapted import Adapted, adapt
from explorer.tuning.deltas import base_weights
from explorer.tuning.files import archive
from explorer.tuning.files.export import export_adapter
from explorer.tuning.files.imports import Imported, import_adapter
from tests.rows import each_row
from tests.tuning.files.kept import record, unpacked
from tests.tuning.samples import batch, frozen_copy, is_unchanged, moved, tiny_loaded
from tests.tuning.small import WEIGHT

CONFIG = {"peft_type": "LORA", "lora_alpha": 4, "r": 2, "base_model_name_or_path": "someone/somewhere"}
QUERY = "base_model.model.bert.encoder.layer.{}.attention.self.query.lora_{}.weight"


def factors(rank: int = 2, width: int = 32, layers: int = 1) -> dict[str, Tensor]:
    draw = torch.Generator().manual_seed(0)
    shapes = {"A": (rank, width), "B": (width, rank)}
    return {
        QUERY.format(layer, side): torch.randn(shape, generator=draw)
        for layer in range(layers)
        for side, shape in shapes.items()
    }


def zipped(path: Path, tensors: Mapping[str, Tensor] | None = None, config: object = None, **others: bytes) -> Path:
    """A zip in peft's format; `others` are further members, with __ for the dot in their names."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("adapter_model.safetensors", save(dict(factors() if tensors is None else tensors)))
        file.writestr("adapter_config.json", json.dumps(CONFIG if config is None else config))
        for name, content in others.items():
            file.writestr(name.replace("__", "."), content)
    return path


def restored(imported: Imported) -> Adapted:
    adapted = adapt(tiny_loaded("BERT"), imported.outputs, imported.spec)
    assert imported.state is not None, imported.notes
    adapted.load_state(imported.state)
    return adapted


@each_row("family", ["BERT", "GPT-2"])
@each_row("variant", ["lora", "rslora", "pissa"])
def test_an_export_comes_back_as_it_went(family: str, variant: str, tmp_path: Path) -> None:
    loaded = tiny_loaded(family)
    before = frozen_copy(loaded)
    run = moved(loaded, variant=variant, rank=3, alpha=7, targets=("value", "ffn_in"))
    imported = import_adapter(export_adapter(run, record(run), None, tmp_path / "run.zip"), loaded)
    assert (imported.labels, imported.columns, imported.base_model_name) == (("no", "yes"), ("text",), loaded.model_id)
    assert imported.notes == ()
    again = adapt(loaded, imported.outputs, imported.spec)
    assert imported.state is not None
    again.load_state(imported.state)
    torch.testing.assert_close(again.logits(batch()), run.logits(batch()), atol=1e-5, rtol=1e-5)
    expected = run.deltas()
    assert imported.deltas.keys() == expected.keys()
    for place, delta in imported.deltas.items():
        torch.testing.assert_close(delta.dense(), expected[place].dense(), atol=1e-5, rtol=1e-5)
    assert is_unchanged(loaded, before)


def test_a_regressions_scale_comes_back(tmp_path: Path) -> None:
    run = moved(tiny_loaded("BERT"), outputs=1)
    imported = import_adapter(export_adapter(run, record(run, WEIGHT), None, tmp_path / "run.zip"), run.loaded)
    assert (imported.scale, imported.labels, imported.outputs) == ((540.0, 14.0), (), 1)


def test_an_adapter_of_several_ranks_and_scales_that_peft_wrote_becomes_one_run(tmp_path: Path) -> None:
    loaded = tiny_loaded("BERT")
    base = AutoModelForSequenceClassification.from_pretrained(loaded.model_id, num_labels=3, dtype=torch.float32)
    config = LoraConfig(
        task_type="SEQ_CLS", r=2, lora_alpha=6, target_modules=["query", "intermediate.dense"],
        layers_to_transform=[1], rank_pattern={"query": 5}, alpha_pattern={"intermediate.dense": 1},
        init_lora_weights=False,
    )  # fmt: skip
    model: PeftModel = get_peft_model(base, config).eval()
    model.save_pretrained(tmp_path / "peft", save_embedding_layers=False)
    path = Path(shutil.make_archive(str(tmp_path / "peft"), "zip", tmp_path, "peft"))
    imported = import_adapter(path, loaded)
    assert sorted(imported.deltas) == [(1, "ffn_in"), (1, "query")]
    assert imported.labels == ("class 0", "class 1", "class 2")
    with torch.no_grad():
        torch.testing.assert_close(restored(imported).logits(batch()), model(**batch()).logits, atol=1e-5, rtol=1e-5)


def test_without_the_base_the_update_is_read_all_the_same(tmp_path: Path) -> None:
    imported = import_adapter(zipped(tmp_path / "a.zip"))
    tensors = factors()
    expected = 4 / 2 * tensors[QUERY.format(0, "B")] @ tensors[QUERY.format(0, "A")]
    torch.testing.assert_close(imported.deltas[0, "query"].dense(), expected)
    assert imported.state is None
    assert imported.spec.model == imported.base_model_name == "someone/somewhere"
    assert "someone/somewhere is not opened on this machine" in imported.notes[0]


def test_safetensors_with_the_config_beside_it(tmp_path: Path) -> None:
    folder = unpacked(zipped(tmp_path / "a.zip"))
    assert import_adapter(folder / "adapter_model.safetensors").deltas.keys() == {(0, "query")}
    (folder / "adapter_config.json").unlink()
    with pytest.raises(BadInputError, match=r"comes without adapter_config\.json"):
        import_adapter(folder / "adapter_model.safetensors")


def test_an_adapter_without_a_head_is_drawn_but_cannot_answer(tmp_path: Path) -> None:
    imported = import_adapter(zipped(tmp_path / "a.zip"), tiny_loaded("BERT"))
    assert imported.state is None
    assert "no classifier" in imported.notes[-1]
    assert "names someone/somewhere as its base" in imported.notes[0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"base_model.model.classifier.weight": (2, 32)}, "classifier.bias is missing"),
        ({"base_model.model.classifier.weight": (2, 9), "base_model.model.classifier.bias": (2,)}, r"\(2, 9\)"),
        (
            {
                "base_model.model.classifier.weight": (2, 32),
                "base_model.model.classifier.bias": (2,),
                "base_model.model.bert.pooler.dense.bias": (32,),
            },
            "also holds bert.pooler.dense.bias",
        ),
    ],
)
def test_a_head_that_does_not_fit_is_said_and_the_update_still_drawn(
    more: dict[str, tuple[int, ...]], said: str, tmp_path: Path
) -> None:
    tensors = factors() | {name: torch.ones(shape) for name, shape in more.items()}
    imported = import_adapter(zipped(tmp_path / "a.zip", tensors), tiny_loaded("BERT"))
    assert imported.state is None
    with pytest.raises(AssertionError, match=said):
        restored(imported)
    assert imported.deltas


@each_row(
    ("tensors", "said"),
    [
        (factors(width=48), r"query.lora_A.weight is \(2, 48\), and on .* it should be \(r, 32\)"),
        (factors(layers=3), r"layer.2.attention.self.query.lora_A.weight belongs to no matrix .* layers 0 to 1"),
        ({"base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight": torch.ones(2, 32)}, "belongs to no matrix"),
        ({QUERY.format(0, "A"): torch.ones(2, 32)}, "do not fit"),
        ({QUERY.format(0, "A"): torch.ones(2, 32), QUERY.format(0, "B"): torch.ones(32, 3)}, "do not fit"),
        ({QUERY.format(0, "A"): torch.ones(0, 32), QUERY.format(0, "B"): torch.ones(32, 0)}, r"shape \(0, 32\)"),
        ({QUERY.format(0, "A"): torch.ones(2), QUERY.format(0, "B"): torch.ones(32, 2)}, "is no matrix"),
        ({QUERY.format(0, "A"): torch.ones(2, 32, dtype=torch.int32)}, "of type int32"),
        ({QUERY.format(0, "A"): torch.full((2, 32), torch.nan)}, "not finite"),
        ({"x" * 400: torch.ones(1)}, "400 characters"),
        (factors() | {QUERY.format(0, "A").removeprefix("base_model.model."): torch.ones(2, 32)}, "do not fit"),
        (factors() | {QUERY.format(0, "A.other"): torch.ones(2, 32)}, "several updates"),
        ({"classifier.weight": torch.ones(2, 32)}, "no LoRA factors"),
    ],
)
def test_tensors_that_do_not_fit_are_named(tensors: dict[str, Tensor], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=said):
        import_adapter(zipped(tmp_path / "a.zip", tensors), tiny_loaded("BERT"))


def test_an_adapter_of_another_width_is_fine_without_a_base(tmp_path: Path) -> None:
    assert import_adapter(zipped(tmp_path / "a.zip", factors(width=48))).deltas


@each_row(
    ("changes", "said"),
    [
        ({"peft_type": "IA3"}, "only LORA"),
        ({"peft_type": None}, "only LORA"),
        ({"lora_alpha": None}, "must be a number"),
        ({"lora_alpha": 0}, "must be a number"),
        ({"lora_alpha": float("nan")}, "must be a number"),
        ({"lora_alpha": 10**400}, "must be a number"),
        ({"lora_alpha": True}, "must be a number"),
        ({"lora_alpha": 20_000}, "alpha must be"),
        ({"use_dora": True}, "DoRA"),
        ({"init_lora_weights": "pissa"}, "started from the weights"),
        ({"alpha_pattern": {"(a+)+$": 3}}, "alpha_pattern"),
        ({"alpha_pattern": {"query\\": 3}}, "alpha_pattern"),
        ({"alpha_pattern": ["query"]}, "alpha_pattern"),
        ({"alpha_pattern": {"query": "much"}}, "must be a number"),
        ({"alpha_pattern": {"query": "16"}}, 'alpha_pattern query: "16", a number in quotation marks'),
        ({"lora_alpha": "16"}, 'lora_alpha: "16", a number in quotation marks'),
    ],
)
def test_settings_that_cannot_be_used_are_named(changes: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=said):
        import_adapter(zipped(tmp_path / "a.zip", config=CONFIG | changes))


@each_row("text", ["[1, 2]", "{", "[" * 100_000, '"x"'])
def test_a_config_that_is_no_object_is_named(text: str, tmp_path: Path) -> None:
    folder = unpacked(zipped(tmp_path / "a.zip"))
    (folder / "adapter_config.json").write_text(text)
    with pytest.raises(BadInputError, match=r"adapter_config\.json"):
        import_adapter(folder / "adapter_model.safetensors")


def test_odd_facts_of_the_apps_own_do_no_harm(tmp_path: Path) -> None:
    facts = {"spec": {"task": 5}, "labels": ["a"] * 5, "columns": 7, "scale": ["x", 0]}
    tensors = factors() | {"base_model.model.classifier.weight": torch.ones(2, 32)}
    imported = import_adapter(zipped(tmp_path / "a.zip", tensors, spec__json=json.dumps(facts).encode()))
    assert imported.labels == ("class 0", "class 1")
    assert "names 5 classes and its head gives 2" in imported.notes[-1]
    assert (imported.columns, imported.scale, imported.spec.task) == ((), (0.0, 1.0), "imported")


class Trap:
    """A pickle that would leave a file behind if anybody opened it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return Path.touch, (self.path,)


@each_row("name", ["weights.bin", "weights.pt", "weights.PTH", "weights.ckpt", "innocent.safetensors"])
@each_row("inside", [False, True])
@each_row("protocol", [2, 4, 5])
def test_pickles_are_refused_by_name_and_by_content_and_never_opened(
    name: str, inside: bool, protocol: int, tmp_path: Path
) -> None:
    trace = tmp_path / "it ran"
    content = pickle.dumps(Trap(trace), protocol)
    path = tmp_path / name
    if inside:
        path = zipped(tmp_path / "a.zip", **{f"more/{name}".replace(".", "__"): content})
    else:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"is a pickle\..*python -m explorer.tuning convert"):
        import_adapter(path)
    assert not trace.exists()


def test_a_checkpoint_of_torch_is_a_pickle_whatever_its_name(tmp_path: Path) -> None:
    for name in ("weights.bin", "renamed.zip", "renamed.safetensors"):
        torch.save(factors(), tmp_path / name)
        with pytest.raises(BadInputError, match="is a pickle"):
            import_adapter(tmp_path / name)


def test_a_header_of_640_bytes_is_no_pickle(tmp_path: Path) -> None:
    """Its length, 0x0280, looks like the beginning of one."""
    content = save(factors())
    header = content[8 : 8 + int.from_bytes(content[:8], "little")].rstrip(b" ")
    path = tmp_path / "adapter_model.safetensors"
    path.write_bytes(
        (640).to_bytes(8, "little") + header.ljust(640) + content[8 + len(header.ljust(-(-len(header) // 8) * 8)) :]
    )
    (tmp_path / "adapter_config.json").write_text(json.dumps(CONFIG))
    assert path.read_bytes()[:2] == b"\x80\x02"
    assert import_adapter(path).deltas.keys() == {(0, "query")}


@each_row("name", ["../evil.txt", "/etc/evil", "a/../../b", "..\\evil", "C:\\evil", "C:/evil"])
def test_paths_out_of_the_zip_are_refused(name: str, tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, "x")
    with pytest.raises(BadInputError, match="leads out of the zip"):
        import_adapter(path)


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as file:
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
    with pytest.raises(BadInputError, match="leads out of the zip"):
        import_adapter(path)


def test_a_zip_that_unpacks_to_more_than_the_limit_is_refused_before_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST", 2_000_000)
    path = zipped(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("zeros", bytes(3_000_000))
    assert path.stat().st_size < 50_000
    with pytest.raises(BadInputError, match="unpacks to 3 MB; at most"):
        import_adapter(path)


def test_a_file_of_more_than_200_mb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "big.safetensors"
    with path.open("wb") as file:
        file.truncate(archive.LARGEST + 1)
    with pytest.raises(BadInputError, match="at most 200 MB"):
        import_adapter(path)


def test_zeros_that_a_zip_packs_tightly_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        zeros = {QUERY.format(0, "A"): torch.zeros(4096, 1024), QUERY.format(0, "B"): torch.zeros(1024, 4096)}
        file.writestr("adapter_model.safetensors", save(zeros))
        file.writestr("adapter_config.json", json.dumps(CONFIG))
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(archive, "read_header", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(BadInputError, match="unpack to 34 MB: weights do not shrink like that"):
        import_adapter(path)


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        (factors(width=48), r"query.lora_A.weight is \(2, 48\), and on .* it should be \(r, 32\)"),
        (factors(rank=5000), "rank 5,000; an adapter of at most rank 4,096"),
        ({QUERY.format(0, "A"): torch.ones(2, 32, dtype=torch.int64)}, "of type int64"),
    ],
)
def test_shapes_are_refused_before_a_tensor_is_read(
    tensors: dict[str, Tensor], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.zip", tensors)
    read = []
    opened = zipfile.ZipExtFile.read

    def counting(self: zipfile.ZipExtFile, size: int | None = -1) -> bytes:
        content = opened(self, size)
        if self.name == "adapter_model.safetensors":
            read.append(len(content))
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counting)
    with pytest.raises(BadInputError, match=said):
        import_adapter(path, tiny_loaded("BERT"))
    assert sum(read) < 1000


@each_row("header", [b"{}", b"[]", b'{"a": 1}', b'{"a": {"dtype": "F32", "shape": "x"}}', b"\xff" * 50, b"[" * 5000])
def test_a_header_that_says_nothing_is_named(header: bytes, tmp_path: Path) -> None:
    folder = unpacked(zipped(tmp_path / "a.zip"))
    path = folder / "adapter_model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(64))
    with pytest.raises(BadInputError, match=r"not readable as safetensors|of type"):
        import_adapter(path)


def test_too_many_members_and_a_giant_config_are_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", **{f"f{number}": b"" for number in range(1001)})
    with pytest.raises(BadInputError, match="1,003 files"):
        import_adapter(path)
    with pytest.raises(BadInputError, match="too large for settings"):
        import_adapter(zipped(tmp_path / "b.zip", config=CONFIG | {"more": "x" * 1_100_000}))


@pytest.mark.parametrize("cut", [3, 40, 300])
def test_broken_files_are_named(cut: int, tmp_path: Path) -> None:
    folder = unpacked(zipped(tmp_path / "a.zip"))
    path = folder / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BadInputError, match="not readable as safetensors"):
        import_adapter(path)


def test_a_damaged_zip_is_named(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip")
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadInputError, match="broken zip"):
        import_adapter(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    for name, said in (("a.txt", "neither a zip nor safetensors"), ("nothing.zip", "no file")):
        with pytest.raises(BadInputError, match=said):
            import_adapter(tmp_path / name)
    for members, said in ((["README.md"], "no safetensors"), (["a.safetensors", "b.safetensors"], "none is called")):
        with zipfile.ZipFile(tmp_path / "b.zip", "w") as file:
            for member in members:
                file.writestr(member, "x")
        with pytest.raises(BadInputError, match=said):
            import_adapter(tmp_path / "b.zip")


def test_a_zip_without_a_config_names_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("folder/adapter_model.safetensors", save(factors()))
    with pytest.raises(BadInputError, match=r"comes without adapter_config\.json"):
        import_adapter(tmp_path / "a.zip")


def test_rank_over_the_width_is_drawn_without_answers(tmp_path: Path) -> None:
    tensors = factors(rank=40) | {
        "base_model.model.classifier.weight": torch.ones(2, 32),
        "base_model.model.classifier.bias": torch.ones(2),
    }
    imported = import_adapter(zipped(tmp_path / "a.zip", tensors), tiny_loaded("BERT"))
    assert imported.state is None
    assert "rank is 40" in imported.notes[-1]
    assert imported.deltas[0, "query"].dense().shape == base_weights(tiny_loaded("BERT"))[0, "query"].shape
