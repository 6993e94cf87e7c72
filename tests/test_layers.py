"""Imports only go down, from floor to floor, and never in a circle; the labs keep to themselves."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from explorer.labs import CHAPTERS, LABS, Action, LiveAction

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "app.py", *sorted((ROOT / "explorer").rglob("*.py"))]
LIBRARIES = {"torch", "transformers", "peft", "safetensors", "sklearn", "scipy", "datasets"}
HEAVY = {*LIBRARIES, "numpy", "pandas"}
INTERFACE = {"gradio", "plotly"}
JOBS = ("compute.py", "jobs.py", "live.py")
PLAIN = ("figures.py", "schema.py", "params.py", "actions.py", "live.py", "__init__.py")
"""What a page imports when it is built, by the end of its name."""


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> set[str]:
    """Every module that a file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(str(node.module))
    return names


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(path)}


def files_in(*parts: str) -> list[Path]:
    folder = ROOT.joinpath("explorer", *parts)
    return sorted(folder.rglob("*.py"))


def inside(path: Path, package: str) -> set[str]:
    return {name for name in imports_of(path) if name == package or name.startswith(f"{package}.")}


@pytest.mark.parametrize("path", files_in("maths"), ids=str)
def test_maths_knows_torch_alone(path: Path) -> None:
    assert not {
        name for name in imports_of(path) if name.startswith("explorer.") and not name.startswith("explorer.maths")
    }
    assert not roots(path) & (INTERFACE | {"transformers"})


FLOORS = (
    ("app",),
    ("explorer", "explorer.shell", "explorer.home"),
    ("explorer.labs",),
    ("explorer.ui",),
    ("explorer.action", "explorer.plain"),
    ("explorer.engine", "explorer.runs.__main__"),
    ("explorer.runs",),
    ("explorer.compress",),
    ("explorer.tuning",),
    ("explorer.tasks", "explorer.models"),
    ("explorer.maths",),
    (
        "explorer.charts",
        "explorer.glossary",
        "explorer.tables",
        "explorer.shelf",
        "explorer.params",
        "explorer.recent",
    ),
    ("explorer.kinds",),
    ("explorer.text", "explorer.settings", "explorer.errors"),
)
"""From the top of the house down; a module belongs to the longest name that it begins with."""


def floor_of(module: str) -> int:
    names = [(len(name), floor) for floor, group in enumerate(FLOORS) for name in group if is_in(module, name)]
    assert names, f"{module} belongs to no floor"
    return max(names)[1]


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@cache
def known_imports(path: Path) -> set[str]:
    """The modules of the app that a file imports, `from package import module` as that module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = inner & MODULES
            found |= modules
            if modules != inner:
                found.add(str(node.module))
    return (found & MODULES) - {module_name(path)}


MODULES = {module_name(path) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_imports_go_down(path: Path) -> None:
    own = floor_of(module_name(path))
    assert not {name for name in known_imports(path) if name != "explorer" and floor_of(name) < own}
    assert "pretraining" not in roots(path)


def test_no_imports_go_in_a_circle() -> None:
    graph = {module_name(path): known_imports(path) for path in FILES}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def below_the_labs() -> list[Path]:
    return [
        path for package in ("models", "tasks", "tuning", "compress", "runs", "engine") for path in files_in(package)
    ]


@pytest.mark.parametrize("path", below_the_labs(), ids=str)
def test_what_is_below_the_labs_knows_no_interface_and_no_lab(path: Path) -> None:
    assert not roots(path) & INTERFACE
    assert not inside(path, "explorer.labs") | inside(path, "explorer.ui")


@pytest.mark.parametrize(
    "path", [*files_in("models"), *files_in("tasks"), *files_in("tuning"), *files_in("compress")], ids=str
)
def test_models_tasks_and_tuning_do_not_know_where_they_run(path: Path) -> None:
    assert not inside(path, "explorer.engine")


@pytest.mark.parametrize("path", [*files_in("models"), *files_in("tasks")], ids=str)
def test_models_and_tasks_do_not_know_how_they_are_tuned(path: Path) -> None:
    assert not inside(path, "explorer.tuning")


@pytest.mark.parametrize("path", [path for path in files_in("labs") if path.name.endswith(JOBS)], ids=str)
def test_jobs_know_neither_gradio_nor_plotly(path: Path) -> None:
    assert not roots(path) & INTERFACE
    assert not inside(path, "explorer.ui")


@pytest.mark.parametrize("path", [path for path in files_in("labs") if path.name.endswith(PLAIN)], ids=str)
def test_figures_schemas_and_parameters_know_neither_torch_nor_gradio(path: Path) -> None:
    assert not roots(path) & (HEAVY | {"gradio"})
    assert not inside(path, "explorer.ui")
    assert not {name for name in imports_of(path) if name.endswith(".compute")}


@pytest.mark.parametrize("path", files_in("labs"), ids=str)
def test_no_lab_imports_another(path: Path) -> None:
    parts = path.relative_to(ROOT / "explorer" / "labs").parts
    if len(parts) == 1:
        return
    own = f"explorer.labs.{parts[0]}"
    others = inside(path, "explorer.labs") - inside(path, own) - {"explorer.labs", "explorer.action", "explorer.plain"}
    assert not others


def test_the_environment_is_read_in_one_place() -> None:
    readers = [
        path.name for path in FILES if "os.environ" in path.read_text(encoding="utf-8") or "getenv" in path.read_text()
    ]
    assert readers == ["settings.py"]


def test_the_interface_starts_without_the_heavy_libraries() -> None:
    code = "import sys, app; from explorer.labs import LABS; from importlib import import_module;"
    code += "[import_module(lab.tab.split(':')[0]) for lab in LABS];"
    code += f"print(sorted({LIBRARIES} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def function_of(action: Action | LiveAction) -> str:
    source = action.source if isinstance(action, LiveAction) else action.job
    return source if isinstance(source, str) else source.function


def test_every_lab_is_complete() -> None:
    names = [action.name for lab in LABS for action in lab.actions]
    assert len(names) == len(set(names))
    for lab in LABS:
        assert lab.chapter in CHAPTERS
        for path in [lab.tab, *map(function_of, lab.actions)]:
            module, name = path.split(":")
            assert callable(getattr(importlib.import_module(module), name))


LAYOUT = (
    'Accordion("Why',
    'Accordion(f"Why',
    '["bench"',
    '["try"',
    '["said"',
    '["bar"',
    '"api_visibility":',
    "_fixed(",
)
"""How explorer.ui.kit writes a tab's parts."""


@pytest.mark.parametrize("path", [ROOT / "explorer" / "home.py", *files_in("labs")], ids=str)
def test_tabs_are_laid_out_with_the_kit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not [part for part in LAYOUT if part in text]


@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_stay_readable_in_length(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 320
