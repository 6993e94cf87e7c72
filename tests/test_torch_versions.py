"""ZeroGPU has an older torch than requirements.txt: the code keeps to what both have.

What the newer one has besides stands in NEWER. To run the app itself on the older one, give its interpreter:

    EXPLORER_OTHER_PYTHON=/somewhere/bin/python .venv/bin/python -m pytest tests/test_torch_versions.py
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from deploy.space import TORCH
from explorer.settings import ROOT
from tests.faults.serving import PATIENCE, environment

OTHER = os.environ.get("EXPLORER_OTHER_PYTHON", "")

VERSIONS = ("2.11.0", "2.13.0")
"""Between which NEWER was taken, by `dir` of these modules on both."""

NEWER = {
    "torch": "thread_safe_generator",
    "torch.Tensor": "const_data_ptr",
    "torch.accelerator": "Graph empty_host_cache graphs",
    "torch.autograd": "enforce_grad_layout_policy",
    "torch.backends": "python_native",
    "torch.backends.cuda": "blas_workspace_size cublas_workspace_size cublaslt_workspace_size is_ck_sdpa_available",
    "torch.cuda": "caching_allocator_disabled current_solver_handle platform",
    "torch.func": "rearrange",
    "torch.mps": "load_metallib",
    "torch.nn": "LinearCrossEntropyLoss LinearCrossEntropyOptions",
    "torch.nn.functional": "linear_cross_entropy",
    "torch.optim": "swap_in_optimizer_params_and_state",
    "torch.random": "thread_safe_generator",
}

RAN = """
import importlib, pkgutil, sys
import explorer, torch

assert torch.__version__.startswith(sys.argv[1]), torch.__version__
for module in pkgutil.walk_packages(explorer.__path__, "explorer."):
    try:
        importlib.import_module(module.name) if not module.name.endswith("__main__") else None
    except ModuleNotFoundError as error:
        assert error.name in ("ray", "spaces"), error
assert len(explorer.run("fill_masks", model=sys.argv[2], text="It is [MASK].").table.rows) == 5
print(explorer.run("train", model=sys.argv[2], task="sst2", method="lora", examples=32, epochs=1).table.rows[-1])
"""


def used(path: Path) -> Iterator[str]:
    """The names of torch in a file, as they are from the top: torch.nn.functional.pad."""
    tree, known = ast.parse(path.read_text(encoding="utf-8")), dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {one.asname or "torch": one.name if one.asname else "torch" for one in node.names if _of(one.name)}
        elif isinstance(node, ast.ImportFrom) and _of(str(node.module)):
            known |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
    yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            first, rest = _parts(node)
            yield f"{known[first]}.{rest}" if first in known else f"torch.Tensor.{node.attr}"


def _parts(node: ast.Attribute) -> tuple[str, str]:
    """The name that an attribute begins with, and what follows it; no name where it begins with a call and the like."""
    rest, below = [node.attr], node.value
    while isinstance(below, ast.Attribute):
        rest.append(below.attr)
        below = below.value
    return below.id if isinstance(below, ast.Name) else "", ".".join(reversed(rest))


def _of(module: str) -> bool:
    return module.split(".")[0] == "torch"


def newer() -> set[str]:
    return {f"{module}.{name}" for module, names in NEWER.items() for name in names.split()}


def test_the_code_keeps_to_names_that_both_versions_have() -> None:
    files = [*(ROOT / "explorer").rglob("*.py"), ROOT / "app.py"]
    found = {name: path for path in files for name in used(path)}
    assert {"torch.nn.functional.pad", "torch.linalg.svdvals", "torch.Tensor.softmax"} <= found.keys()
    assert {name: path for name, path in found.items() if name in newer()} == {}


def test_a_newer_name_is_found_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "new.py"
    for line in (
        "import torch\ntorch.nn.functional.linear_cross_entropy(a, b)",
        "from torch.nn import functional as F\nF.linear_cross_entropy(a, b)",
        "from torch import Tensor, func\nfunc.rearrange(a, b)",
        "from torch.nn import LinearCrossEntropyLoss",
        "a.cpu().const_data_ptr()",
    ):
        file.write_text(line, encoding="utf-8")
        assert set(used(file)) & newer(), line


def test_the_list_is_of_the_versions_that_are_pinned() -> None:
    """Where it fails, take the list again: compare what `dir` says of these modules under both."""
    ours = next(line for line in (ROOT / "requirements.txt").read_text().split() if line.startswith("torch=="))
    assert (TORCH, ours) == (VERSIONS[0], f"torch=={VERSIONS[1]}")
    for name in newer():
        assert torch.__version__.startswith(VERSIONS[1])
        module, attribute = name.rsplit(".", 1)
        assert hasattr(_found(module), attribute), f"{name} is none of torch's"


def _found(name: str) -> object:
    place: object = torch
    for part in name.split(".")[1:]:
        place = getattr(place, part)
    return place


@pytest.mark.skipif(not OTHER, reason="EXPLORER_OTHER_PYTHON names no interpreter with the older torch")
def test_the_app_answers_and_trains_on_the_older_one(tmp_path: Path, tiny_model: str) -> None:
    ran = subprocess.run(
        [OTHER, "-c", RAN, VERSIONS[0], tiny_model],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
