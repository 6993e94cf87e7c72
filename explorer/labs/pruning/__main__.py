"""`python -m explorer.labs.pruning [NAME ...]`: compute again what the page opens with, and put it into assets/worked."""

from __future__ import annotations

import datetime
import sys
import tempfile
from pathlib import Path
from typing import cast

from explorer.action import LiveAction
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.labs.pruning import LAB
from explorer.labs.pruning.worked import OPENINGS, keep
from explorer.settings import Settings


def main() -> None:
    """Ask each question as the page does; prints where the answer went."""
    wanted = sys.argv[1:] or list(OPENINGS)
    if unknown := set(wanted) - set(OPENINGS):
        raise SystemExit(f"{LAB.title} opens with {', '.join(OPENINGS)}, and not with {', '.join(sorted(unknown))}.")
    jobs = {action.name: action.source for action in LAB.actions if isinstance(action, LiveAction)}
    made = f"{datetime.datetime.now(datetime.UTC).date():%d %B %Y}, on the processor"
    with tempfile.TemporaryDirectory() as data_folder:
        engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=Path(data_folder)))
        for action in wanted:
            result = engine.follow(cast(Job, jobs[action]), OPENINGS[action].params).last.result()
            print(keep(action, result, made), flush=True)


if __name__ == "__main__":
    main()
