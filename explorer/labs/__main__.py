"""`python -m explorer.labs [NAME ...]`: compute again what tabs open with, and put it into assets/worked."""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from explorer.action import Action, LiveAction
from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.labs import LABS
from explorer.settings import Settings
from explorer.worked import Opening, keep

OPENING = {action.name: action for lab in LABS for action in lab.actions if action.openings}
"""The actions whose first answers are bundled, by name."""


def main() -> None:
    """Ask each question as its page does; prints where the answer went."""
    wanted = sys.argv[1:] or list(OPENING)
    if unknown := set(wanted) - set(OPENING):
        raise SystemExit(f"Computed beforehand are {', '.join(OPENING)}, and not {', '.join(sorted(unknown))}.")
    made = f"{datetime.datetime.now(datetime.UTC).date():%d %B %Y}, on the processor"
    with tempfile.TemporaryDirectory() as data_folder:
        engine = LocalEngine(Settings(device="cpu", offline=True, data_folder=Path(data_folder)))
        for name in wanted:
            action = OPENING[name]
            for number, opening in enumerate(action.openings):
                print(keep(name, number, opening, computed(engine, action, opening), made), flush=True)


def computed(engine: LocalEngine, action: Action | LiveAction, opening: Opening) -> Any:
    """Return the last answer to one of an action's first questions."""
    params = opening.params
    if isinstance(action, Action):
        return engine.follow(action.job, params, opening.model).last.result()
    if isinstance(action.source, Job):
        return engine.follow(action.source, params).last.result()
    last = None
    for result in action.follow(engine, params, "worked"):
        last = last if result is None else result
        time.sleep(0.5)  # the runs need the processor
    return last


if __name__ == "__main__":
    main()
