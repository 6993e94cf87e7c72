"""The folder that goes up as a Hugging Face Space: what is in it, and that the app starts from it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from deploy import space
from deploy.space import PYTHON, ROOT, NotWrittenError
from tests.caller import Caller
from tests.faults.serving import Server
from tests.rows import each_row

OURS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
ON_A_SPACE = {"python_version": "3.12", "python_full_version": PYTHON, "sys_platform": "linux", "extra": ""}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("space") / "made"
    assert "nothing was sent" in space.main(["--dry", str(folder)])
    yield folder
    shutil.rmtree(folder)


def pins(text: str) -> dict[str, str]:
    return dict(line.split("==") for line in text.splitlines())


def test_the_front_matter_names_what_zero_gpu_has(written: Path) -> None:
    _, front, text = (written / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    lines = dict(line.split(": ", 1) for line in front.splitlines())
    assert lines["sdk"] == "gradio"
    assert lines["sdk_version"] == pins(OURS)["gradio"]
    assert lines["python_version"] == '"3.12.12"'
    assert lines["hf_oauth"] == "true"
    assert (written / lines["app_file"]).is_file()
    assert lines["title"] == "BERT Explorer"
    assert (ROOT / "README.md").read_text(encoding="utf-8").endswith(text)


def test_the_requirements_are_ours_but_for_torch_gradio_and_spaces(written: Path) -> None:
    ours, theirs = pins(OURS), pins((written / "requirements.txt").read_text(encoding="utf-8"))
    assert theirs["torch"] == "2.11.0"
    assert "gradio" not in theirs
    changed = {"torch", "gradio", "spaces"}
    assert {name: pin for name, pin in theirs.items() if name not in changed} == {
        name: pin for name, pin in ours.items() if name not in changed
    }
    assert set(theirs) == set(ours) - {"gradio"} | {"spaces"}


def test_the_pins_fit_one_another_and_zero_gpus_python(written: Path) -> None:
    """What each package that is here says of the others' versions and of Python's; no index is asked."""
    pinned = pins((written / "requirements.txt").read_text(encoding="utf-8"))
    looked_at = 0
    for name in [*pinned, "gradio"]:
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            assert name == "spaces"
            continue
        python = Requirement(f"python{metadata(name).get('Requires-Python') or ''}")
        assert python.specifier.contains(PYTHON), f"{name} needs {python}"
        for need in map(Requirement, needed):
            if need.name.lower() in pinned and (need.marker is None or need.marker.evaluate(ON_A_SPACE)):
                looked_at += 1
                assert need.specifier.contains(pinned[need.name.lower()]), f"{name} needs {need}"
    assert looked_at > 10


def test_what_git_knows_goes_up_and_what_npm_has_made(written: Path) -> None:
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    sent = {str(path.relative_to(written)) for path in written.rglob("*") if path.is_file()}
    made = {name for name in sent if name.startswith("frontend/")}
    assert sent - made <= set(kept)
    setup = Path(sys.prefix) / "frontend"
    assert made == {f"frontend/{file.name}" for file in setup.glob("*")}
    assert {"app.py", "LICENSE", "explorer/shell.py", "assets/style.css"} <= sent
    assert not any(name.startswith(("tests/", "benchmarks/", "deploy/")) for name in sent)


def test_the_app_starts_from_the_folder_and_answers(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    server = Server(tmp_path / "data", tmp_path / "log", written)
    try:
        answer = Caller(server.address).predict(model="bert-mini", text="A [MASK].", top_k=3, api_name="/fill_masks")
        assert len(answer[-1]["data"]) == 3
    finally:
        server.kill()


def write_little(folder: Path) -> None:
    (folder / "app.py").write_text("print()\n")


def test_nothing_is_sent_without_a_yes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(space, "write", write_little)
    monkeypatch.setattr(space, "upload", lambda *given: sent.append(given))
    monkeypatch.setattr("builtins.input", lambda question: "")
    assert space.main(["--space", "ada/bert"]) == "Nothing was sent."
    assert "1 files" in capsys.readouterr().out
    assert sent == []
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert "https://huggingface.co/spaces/ada/bert" in space.main(["--space", "ada/bert"])
    assert [name for _, name in sent] == ["ada/bert"]


def test_it_is_sent_by_the_hubs_own_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **options: Any) -> Any:
        ran.append(command)
        return subprocess.CompletedProcess(command, 0, stdout="abc")

    monkeypatch.setattr(space.subprocess, "run", run)
    space.upload(tmp_path, "ada/bert")
    (command,) = (one for one in ran if one[0].endswith("/hf"))
    assert command[1:6] == ["upload", "ada/bert", str(tmp_path), ".", "--repo-type"]
    assert Path(command[0]).exists()


@each_row(
    ("given", "said"),
    [
        ([], "DRY=folder"),
        (["--dry", "a", "--space", "b/c"], "DRY=folder"),
        (["--space", "bert"], "user/name"),
        (["--dry", str(ROOT)], "is not empty"),
    ],
)
def test_what_cannot_be_made_is_said(given: list[str], said: str) -> None:
    with pytest.raises(NotWrittenError, match=said):
        space.main(given)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize(("given", "index"), [((), False), (("CPU=1",), True)])
def test_make_setup_takes_cpu_wheels_where_it_is_asked_to(given: tuple[str, ...], index: bool, tmp_path: Path) -> None:
    command = ["make", "-n", "setup", f"VENV={tmp_path}/none", *given]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    first = next(line for line in said.splitlines() if "pip install" in line)
    assert re.search(r"torch==", first)
    assert ("download.pytorch.org/whl/cpu" in first) is index
