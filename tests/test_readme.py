"""The README's map of the folders is true, and so are the paths that the guides name."""

from __future__ import annotations

import re
from pathlib import Path

from tests.rows import each_row

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def mapped() -> list[str]:
    """The paths of the map: its lines are indented by two spaces a level, a folder ends in a slash."""
    block = re.search(r"## Map of the folders.*?```text\n(.*?)```", README, re.DOTALL)
    assert block is not None, "the README needs its map of the folders"
    paths: list[str] = []
    stack: list[str] = []
    for line in block.group(1).splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        stack = [*stack[:depth], name]
        paths.append("".join(stack))
    return paths


def test_every_path_of_the_map_exists() -> None:
    missing = [path for path in mapped() if not (ROOT / path).exists()]
    assert missing == []


def test_every_folder_with_code_is_on_the_map() -> None:
    tops = (ROOT / "explorer", ROOT / "pretraining")
    labs = ROOT / "explorer" / "labs"  # a question's folder inside a lab is not on it
    within = {path.parent for top in tops for path in top.rglob("*.py")}
    folders = {f"{path.relative_to(ROOT)}/" for path in within if path.parent.parent != labs}
    assert folders - set(mapped()) == set()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 220


@each_row("guide", ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_every_path_that_a_guide_names_exists(guide: str) -> None:
    text = (ROOT / guide).read_text(encoding="utf-8")
    named = re.findall(r"(?:explorer|pretraining|assets|tests|docs|benchmarks)/[A-Za-z0-9_./-]+", text)
    linked = re.findall(r"\]\(([^)#:]+)\)", text)
    paths = [ROOT / name.rstrip(".") for name in named if not name.endswith("/corpus")]
    paths += [(ROOT / guide).parent / link for link in linked]
    assert [str(path) for path in paths if not path.exists()] == []


def test_the_front_matter_makes_the_repository_a_space() -> None:
    front = README.split("---")[1]
    assert re.search(r"^sdk: gradio$", front, re.MULTILINE)
    assert re.search(r"^app_file: app.py$", front, re.MULTILINE)
    version = re.search(r"^sdk_version: (\S+)$", front, re.MULTILINE)
    assert version is not None
    assert f"gradio=={version.group(1)}" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
