"""`python -m explorer.tuning convert SOURCE.bin TARGET.zip`: an old LoRA pickle as safetensors that the app imports."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from explorer.errors import ExplorerError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 if it went well; errors go to stderr as a sentence."""
    parser = argparse.ArgumentParser(prog="python -m explorer.tuning", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("convert", help="turn a pickled LoRA (.bin, .pt) into a zip in peft's format")
    command.add_argument("source", type=Path, help="a file that torch.save wrote: names and tensors")
    command.add_argument("target", type=Path, help="the zip to write")
    command.add_argument("--base", default="", help="the base model's id, such as FacebookAI/roberta-base")
    command.add_argument("--alpha", type=float, default=16.0, help="LoRA's alpha, which such files do not hold (16)")
    command.add_argument("--rank", type=int, default=None, help="LoRA's rank, to check the file against it")
    command.add_argument("--labels", default="", help="the classes in order, separated by commas")
    chosen = parser.parse_args(arguments)
    try:
        _convert(chosen)
    except ExplorerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _convert(chosen: argparse.Namespace) -> None:
    from explorer.tuning.files.convert import convert  # imports torch, which --help need not wait for

    labels = [label.strip() for label in chosen.labels.split(",") if label.strip()]
    found = convert(chosen.source, chosen.target, chosen.base, chosen.alpha, chosen.rank, labels)
    print(f"{chosen.target}: {len(found.deltas)} matrices of rank {found.spec.rank}, alpha {found.spec.alpha:g}")
    for role in sorted({role for _, role in found.deltas}):
        norms = [float(delta.dense().norm()) for (_, other), delta in found.deltas.items() if other == role]
        print(f"  {role}: {len(norms)} layers, norm of the update from {min(norms):.2f} to {max(norms):.2f}")
    for note in found.notes[1:]:  # the first says that no base model was opened, which is no news here
        print(note)


if __name__ == "__main__":
    raise SystemExit(main())
