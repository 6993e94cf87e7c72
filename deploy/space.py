"""Make a Hugging Face Space of this repository: `make space DRY=folder` writes it, `make space SPACE=user/name` sends it up.

A free account's Space runs on ZeroGPU, which has other versions of Python and torch than ours; requirements and the README's
first lines are written from ours with these.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON, TORCH, SPACES = "3.12.12", "2.11.0", "0.51.3"
"""What ZeroGPU has, and the package by which a Space asks it for a GPU."""

SENT = ("app.py", "LICENSE", "README.md", "SECURITY.md", "requirements.txt", "assets", "docs", "explorer")
"""Files and folders of the repository that a Space needs, or that its README leads to."""

NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


class NotWrittenError(Exception):
    """Why there is no Space now, for whoever ran the command."""


def sent_files() -> list[str]:
    """Paths below the repository, of files that git knows: what lies about in a working folder stays here."""
    try:
        found = subprocess.run(["git", "ls-files", "-z", "--", *SENT], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotWrittenError(f"git must list the files that are sent, and can't here: {error}") from error
    names = found.stdout.decode().split("\0")
    return [name for name in names if name and (ROOT / name).exists()]


def requirements(ours: str) -> str:
    """The Space's requirements.txt from ours; Gradio is left to the front matter's sdk_version, which installs it."""
    pins = [f"torch=={TORCH}" if line.startswith("torch==") else line for line in ours.splitlines()]
    kept = [line for line in pins if not line.startswith("gradio==")]
    return "\n".join(sorted([*kept, f"spaces=={SPACES}"], key=str.lower)) + "\n"


def readme(ours: str, requirements_text: str) -> str:
    """The Space's README.md from ours: the same text below first lines that name ZeroGPU's Python."""
    _, front, text = ours.split("---\n", 2)
    gradio = re.search(r"^gradio==(\S+)$", requirements_text, re.MULTILINE)
    if gradio is None:
        raise NotWrittenError("requirements.txt must pin gradio, which the Space installs as its sdk_version.")
    own = {"sdk_version": gradio[1], "python_version": f'"{PYTHON}"'}
    lines = [line for line in front.splitlines() if line.split(":")[0] not in own]
    lines += [f"{name}: {value}" for name, value in own.items()]
    return "\n".join(["---", *lines, "hf_oauth: true", "suggested_hardware: zero-a10g", "---", text])


def write(folder: Path) -> None:
    """Write the Space into an empty folder. Raises NotWrittenError."""
    if folder.exists() and any(folder.iterdir()):
        raise NotWrittenError(f"{folder} is not empty: name a new folder, or empty this one.")
    for name in sent_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    ours = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    (folder / "requirements.txt").write_text(requirements(ours), encoding="utf-8")
    (folder / "README.md").write_text(readme((ROOT / "README.md").read_text(encoding="utf-8"), ours), encoding="utf-8")
    made = Path(sys.prefix) / "frontend"
    if made.is_dir():
        shutil.copytree(made, folder / "frontend")


def told(folder: Path) -> str:
    """What a written Space holds, in lines."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    large = [path for path in files if path.stat().st_size > 10 * 2**20]
    megabytes = sum(path.stat().st_size for path in files) / 2**20
    kinds = sorted({path.relative_to(folder).parts[0] for path in files})
    return (
        f"{len(files):,} files, {megabytes:,.0f} MB, {len(large)} of them over 10 MB: {', '.join(kinds)}\n"
        f"for ZeroGPU: Python {PYTHON}, torch {TORCH}, spaces {SPACES}; all other versions are this repository's"
    )


def upload(folder: Path, space: str) -> None:
    """Send a written Space up by `hf upload`, which makes it where it is not there. Files that are no longer sent go there.

    Raises NotWrittenError.
    """
    hf = Path(sys.executable).with_name("hf")
    command = [str(hf), "upload", space, str(folder), ".", "--repo-type", "space", "--delete", "*"]
    try:
        subprocess.run([*command, "--commit-message", f"Made by make space of {_version()}"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotWrittenError(
            f"The upload failed ({error}). `{hf} auth login` tells the hub who you are; the same command goes on where it ended."
        ) from error


def _version() -> str:
    """The commit that is sent, and whether the files differ from it."""
    found = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return found.stdout.strip() or "no commit"


def _agreed(space: str) -> bool:
    try:
        return input(f"Send this to https://huggingface.co/spaces/{space}? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def main(arguments: list[str] | None = None) -> str:
    """The command; its last line."""
    parser = argparse.ArgumentParser(description="Make a Hugging Face Space of this repository.")
    parser.add_argument("--dry", type=Path, help="write it to this folder and send nothing")
    parser.add_argument("--space", default="", help="send it to this Space, as user/name")
    parser.add_argument("--yes", action="store_true", help="send without asking")
    given = parser.parse_args(arguments)
    if bool(given.dry) == bool(given.space):
        raise NotWrittenError(
            "Say `make space DRY=folder` to write a Space, or `make space SPACE=user/name` to send it."
        )
    if given.dry:
        write(given.dry)
        return f"{told(given.dry)}\nWritten to {given.dry}; nothing was sent."
    if not NAME.fullmatch(given.space):
        raise NotWrittenError(f"A Space is named as user/name, and not {given.space!r}.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder)
        print(told(folder), flush=True)
        if not (given.yes or _agreed(given.space)):
            return "Nothing was sent."
        upload(folder, given.space)
    return f"Sent. It builds now: https://huggingface.co/spaces/{given.space}"


if __name__ == "__main__":
    try:
        print(main())
    except NotWrittenError as error:
        sys.exit(str(error))
