"""The README's map of the tree is true: every path in it exists, and every module of the package is in it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def mapped() -> list[str]:
    """The paths of the map: its lines are indented by two spaces a level, a folder ends in a slash."""
    block = re.search(r"## Map of the tree.*?```text\n(.*?)```", README, re.DOTALL)
    assert block is not None, "the README needs its map of the tree"
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


def test_every_module_of_the_package_is_on_the_map() -> None:
    known = set(mapped())
    modules = [str(path.relative_to(ROOT)) for path in (ROOT / "explorer").rglob("*.py") if path.name != "__init__.py"]
    folders = {f"{Path(module).parent}/" for module in modules}
    unmapped = [module for module in modules if module not in known]
    unmapped += [folder for folder in folders if folder not in known]
    assert unmapped == []


def test_the_front_matter_makes_the_repository_a_space() -> None:
    front = README.split("---")[1]
    assert re.search(r"^sdk: gradio$", front, re.MULTILINE)
    assert re.search(r"^app_file: app.py$", front, re.MULTILINE)
    version = re.search(r"^sdk_version: (\S+)$", front, re.MULTILINE)
    assert version is not None
    assert f"gradio=={version.group(1)}" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
