"""A process that has no more memory: what needs too much says so, and what needs little is answered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from explorer.settings import ROOT
from tests.faults.serving import PATIENCE, environment

ASKED = """
import resource, sys
import psutil
import explorer
from explorer.errors import OutOfMemoryError

def ask(model):
    return len(explorer.run("fill_masks", model=model, text="Paris is in [MASK].").table.rows)

tiny = sys.argv[1]
assert ask(tiny) == 5
limit = psutil.Process().memory_info().vms + 120 * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    ask("bert-small")
except OutOfMemoryError as error:
    print(error)
print(explorer.run("fill_masks", model=tiny, text="It is [MASK].").table.rows and "answered")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit a process's addresses")
def test_a_model_that_does_not_fit_is_refused_and_a_smaller_one_answers(tmp_path: Path, tiny_model: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", ASKED, tiny_model],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    refused, answered = ran.stdout.splitlines()
    assert refused.startswith("There is not enough memory for bert-small")
    assert answered == "answered"
