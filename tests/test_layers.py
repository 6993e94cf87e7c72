"""Imports only go down, from floor to floor, and never in a circle; the labs keep to themselves."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from explorer.engine.protocol import Job
from explorer.labs import CHAPTERS, LABS, Action, LiveAction
from explorer.tab import Tab

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "app.py", *sorted((ROOT / "explorer").rglob("*.py"))]
LIBRARIES = {"torch", "transformers", "peft", "safetensors", "sklearn", "scipy", "datasets"}
HEAVY = {*LIBRARIES, "numpy", "pandas"}
INTERFACE = {"gradio", "plotly"}
JOBS = ("compute.py", "jobs.py", "live.py")
PLAIN = ("figures.py", "schema.py", "params.py", "actions.py", "live.py", "__init__.py")
"""What a page imports when it is built, by the end of its name."""
COMMON = {*JOBS, *PLAIN, "said_figures.py", "page.py", "plain.py", "examples.py", "controls.py"}
"""The files that a lab, or the folder of one of its questions, is made of; a small question's begin with its name."""


def module_name(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def import_statements(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Every import, wherever in the file; each file is parsed once for all rules."""
    return tuple(node for node in ast.walk(ast.parse(text_of(path))) if isinstance(node, ast.Import | ast.ImportFrom))


@cache
def imports_of(path: Path) -> set[str]:
    """Every module that a file imports."""
    names: set[str] = set()
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, f"{path}: relative import"
            names.add(str(node.module))
    return names


def roots(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports_of(path)}


def files_in(package: str) -> list[Path]:
    return sorted((ROOT / "explorer" / package).rglob("*.py"))


def files_of(*packages: str) -> list[Path]:
    return [path for package in packages for path in files_in(package)]


def inside(path: Path, package: str) -> set[str]:
    return {name for name in imports_of(path) if is_in(name, package)}


def is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def hold(paths: Iterable[Path], offences: Callable[[Path], Collection[object]]) -> None:
    """Nothing in any of the files offends against a rule; the failure names all files that do, with what does."""
    looked_at = list(paths)
    assert looked_at
    found = {str(path.relative_to(ROOT)): offences(path) for path in looked_at}
    bad = [f"{name}: {', '.join(sorted(map(str, what)))}" for name, what in found.items() if what]
    assert not bad, "\n".join(bad)


def test_maths_knows_torch_alone() -> None:
    def others(path: Path) -> set[str]:
        return inside(path, "explorer") - inside(path, "explorer.maths") | roots(path) & (INTERFACE | {"transformers"})

    hold(files_in("maths"), others)


FLOORS = (
    ("app",),
    (
        "explorer",
        "explorer.shell",
        "explorer.home",
        "explorer.navigation",
        "explorer.ledger",
        "explorer.path",
    ),
    ("explorer.lessons",),
    ("explorer.labs",),
    ("explorer.ui",),
    ("explorer.serving",),
    ("explorer.action", "explorer.plain", "explorer.reference", "explorer.tab"),
    ("explorer.engine", "explorer.runs.__main__"),
    ("explorer.runs",),
    ("explorer.compress",),
    ("explorer.scratch",),
    ("explorer.published",),
    ("explorer.tuning",),
    ("explorer.objectives",),
    ("explorer.tasks", "explorer.models"),
    ("explorer.maths",),
    (
        "explorer.charts",
        "explorer.glossary",
        "explorer.glossary_models",
        "explorer.glossary_training",
        "explorer.tables",
        "explorer.shelf",
        "explorer.params",
        "explorer.lru_cache",
        "explorer.worked",
    ),
    ("explorer.kinds",),
    ("explorer.text", "explorer.settings", "explorer.errors", "explorer.memory", "explorer.wanted"),
)
"""From the top of the house down; a module belongs to the longest name that it begins with."""


def floor_of(module: str) -> int:
    names = [(len(name), floor) for floor, group in enumerate(FLOORS) for name in group if is_in(module, name)]
    assert names, f"{module} belongs to no floor"
    return max(names)[1]


@cache
def known_imports(path: Path) -> set[str]:
    """The modules of the app that a file imports, `from package import module` as that module."""
    found: set[str] = set()
    for node in import_statements(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = inner & MODULES
            found |= modules
            if modules != inner:
                found.add(str(node.module))
    return (found & MODULES) - {module_name(path)}


MODULES = {module_name(path) for path in FILES}


def test_imports_go_down() -> None:
    def upward(path: Path) -> set[str]:
        own = floor_of(module_name(path))
        return {name for name in known_imports(path) if name != "explorer" and floor_of(name) < own}

    hold(FILES, upward)
    hold(FILES, lambda path: inside(path, "pretraining"))


def test_no_imports_go_in_a_circle() -> None:
    graph = {module_name(path): known_imports(path) for path in FILES}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_what_is_below_the_labs_knows_no_interface_and_no_lab() -> None:
    hold(
        files_of("models", "tasks", "objectives", "tuning", "published", "scratch", "compress", "runs", "engine"),
        lambda path: (
            roots(path) & INTERFACE
            | inside(path, "explorer.labs")
            | inside(path, "explorer.ui")
            | inside(path, "explorer.serving")
        ),
    )


def test_models_tasks_and_tuning_do_not_know_where_they_run() -> None:
    hold(
        files_of("models", "tasks", "objectives", "tuning", "published", "scratch", "compress"),
        lambda path: inside(path, "explorer.engine"),
    )


def test_models_and_tasks_do_not_know_how_they_are_tuned() -> None:
    hold(files_of("models", "tasks", "objectives"), lambda path: inside(path, "explorer.tuning"))


def test_jobs_know_neither_gradio_nor_plotly() -> None:
    jobs = [path for path in files_in("labs") if path.name.endswith(JOBS)]
    hold(jobs, lambda path: roots(path) & INTERFACE | inside(path, "explorer.ui") | inside(path, "explorer.serving"))


def test_figures_schemas_and_parameters_know_neither_torch_nor_gradio() -> None:
    def heavy(path: Path) -> set[str]:
        computing = {name for name in imports_of(path) if name.endswith(".compute")}
        outer = inside(path, "explorer.ui") | inside(path, "explorer.serving")
        return roots(path) & (HEAVY | {"gradio"}) | outer | computing

    hold([path for path in files_in("labs") if path.name.endswith(PLAIN) or is_with_a_page(path)], heavy)


def is_with_a_page(path: Path) -> bool:
    """`layer.py` beside `layer_page.py`: what a small question asks, computes and shows."""
    return path.with_name(f"{path.stem}_page.py").exists()


def questions() -> list[Path]:
    """Small questions, each a file from its parameters to its Tab."""
    return [path for path in files_in("labs") if "explorer.tab" in imports_of(path)]


def test_a_question_of_one_file_is_described_without_gradio_and_torch() -> None:
    """Its job imports torch where it runs."""

    def at_the_top(path: Path) -> set[str]:
        statements = [node for node in ast.parse(text_of(path)).body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in statements if isinstance(node, ast.Import) for alias in node.names} | {
            str(node.module) for node in statements if isinstance(node, ast.ImportFrom)
        }
        return {name for name in names if name.split(".")[0] in HEAVY}

    hold(questions(), lambda path: at_the_top(path) | roots(path) & INTERFACE | inside(path, "explorer.ui"))
    hold(questions(), lambda path: [] if path.name not in COMMON else [path.name])


def of_kind(path: Path) -> str:
    """`seeds_page.py` is a page.py of the question `seeds`."""
    return next((common for common in COMMON if path.name.endswith(f"_{common}")), path.name)


def test_a_lab_is_read_without_a_map_of_its_files() -> None:
    """The same names in every lab; what only one lab has is a noun of its subject."""
    names = Counter(of_kind(path) for path in files_in("labs") if path not in questions() and not is_with_a_page(path))
    assert {name for name, times in names.items() if times > 1} <= COMMON
    assert len(names) <= len(COMMON) + 20


def test_no_lab_imports_another() -> None:
    def others(path: Path) -> set[str]:
        parts = path.relative_to(ROOT / "explorer" / "labs").parts
        if len(parts) == 1:
            return set()
        shared = {"explorer.labs", "explorer.action", "explorer.plain"}
        return inside(path, "explorer.labs") - inside(path, f"explorer.labs.{parts[0]}") - shared

    hold(files_in("labs"), others)


def test_the_cluster_is_known_in_one_place() -> None:
    here = ROOT / "explorer" / "engine" / "cluster"
    hold([path for path in FILES if path.parent != here], lambda path: inside(path, "ray"))


def test_zero_gpu_is_known_in_one_place() -> None:
    here = ROOT / "explorer" / "engine" / "zerogpu.py"
    hold([path for path in FILES if path != here], lambda path: inside(path, "spaces"))


def test_the_environment_is_read_in_one_place() -> None:
    readers = [path.name for path in FILES if "os.environ" in text_of(path) or "getenv" in text_of(path)]
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


def test_light_jobs_bring_in_neither_torch_nor_transformers() -> None:
    jobs = [action.source if isinstance(action, LiveAction) else action.job for lab in LABS for action in lab.actions]
    modules = {job.function.split(":")[0] for job in jobs if isinstance(job, Job) and job.light}
    assert modules
    code = f"import sys, {', '.join(sorted(modules))}; print(sorted({{'torch', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_lab_is_complete() -> None:
    names = [action.name for lab in LABS for action in lab.actions]
    assert len(names) == len(set(names))
    for lab in LABS:
        assert lab.chapter in CHAPTERS
        for path in [lab.tab, *map(function_of, lab.actions)]:
            module, name = path.split(":")
            named = getattr(importlib.import_module(module), name)
            assert callable(named) or isinstance(named, Tab)


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


def test_tabs_are_laid_out_with_the_kit() -> None:
    tabs = [ROOT / "explorer" / "home.py", *files_in("labs")]
    hold(tabs, lambda path: [part for part in LAYOUT if part in text_of(path)])


def test_files_stay_readable_in_length() -> None:
    hold(FILES, lambda path: [count for count in (len(text_of(path).splitlines()),) if count > 320])
