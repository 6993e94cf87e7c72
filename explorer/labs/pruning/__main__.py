"""`python -m explorer.labs.pruning [NAME ...]`: compute again what the page opens with, and put it into assets/worked."""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from pathlib import Path

from explorer.backend.local import LocalExecutor
from explorer.labs.pruning import LAB
from explorer.labs.pruning import live as streams
from explorer.labs.pruning.worked import OPENINGS, keep
from explorer.settings import Settings


def main() -> None:
    """Ask each question as the page does; prints where the answer went."""
    wanted = sys.argv[1:] or list(OPENINGS)
    if unknown := set(wanted) - set(OPENINGS):
        raise SystemExit(f"{LAB.title} opens with {', '.join(OPENINGS)}, and not with {', '.join(sorted(unknown))}.")
    made = f"{datetime.datetime.now(datetime.UTC).date():%d %B %Y}, on the processor"
    with tempfile.TemporaryDirectory() as data_folder:
        executor = LocalExecutor(Settings(device="cpu", offline=True, data_folder=Path(data_folder)))
        for action in wanted:
            last = None
            for result in getattr(streams, action)(executor, OPENINGS[action].params, "script"):
                last = result if result is not None else last
                time.sleep(0.02)
            print(keep(action, last, made), flush=True)


if __name__ == "__main__":
    main()
