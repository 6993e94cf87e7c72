"""How large the house is, in numbers that ought to fall, or to rise where it is comments: `python -m tests.house`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import explorer
from explorer.settings import ROOT
from tests.test_layers import is_with_a_page, of_kind

FEWEST_WORDS = 4
"""A line that is a string of so many words is a sentence for visitors, and no code."""

INSIDE = (
    "routes",
    "route_utils",
    "blocks",
    "queueing",
    "state_holder",
    "utils",
    "data_classes",
    "context",
    "processing_utils",
)
"""Modules of Gradio that its guides don't name."""

_SILENT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
_WORDS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def lines_by_kind(text: str) -> Counter[str]:
    """How many lines are blank, comments, docstrings, imports, sentences for visitors, and code."""
    kinds = dict.fromkeys(range(1, text.count("\n") + 1), "blank")
    spoken: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            kinds[token.start[0]] = "comment" if kinds[token.start[0]] == "blank" else "code"
        elif token.type not in _SILENT:
            for line in range(token.start[0], token.end[0] + 1):
                kinds[line] = "code"
                spoken[line] = spoken.get(line, "") + ("" if token.string in "()[]{}," else token.string)
    for line, words in spoken.items():
        if words.lstrip("rf")[:1] in ("'", '"') and len(words.split()) >= FEWEST_WORDS:
            kinds[line] = "sentence"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kinds |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "import")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kinds |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "docstring")
    return Counter(kinds.values())


def comments(text: str) -> int:
    """Comments at the end of a line as well as on lines of their own."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


def looks_inside(text: str) -> bool:
    """Whether a module imports what Gradio's guides don't name, or reads an event's own data."""
    modules = [node.module or "" for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    return (
        any(module.startswith(tuple(f"gradio.{name}" for name in INSIDE)) for module in modules)
        or re.search(r"\._data\b", text) is not None
    )


def measured() -> list[str]:
    """A line for each number."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "explorer").rglob("*.py"))}
    of_labs = {path: text for path, text in texts.items() if "labs" in path.parts}
    endpoints = len(explorer.actions())
    code = sum((lines_by_kind(text) for text in of_labs.values()), Counter[str]())["code"]
    questions: dict[str, list[str]] = {}
    for path, text in of_labs.items():
        if question := _question(path, text):
            questions.setdefault(question, []).append(text)
    small = [len(files) for files in questions.values() if sum(text.count("\n") for text in files) < 300]
    inside = sorted({_folder(path) for path, text in texts.items() if looks_inside(text)})
    whole = sum(text.count("\n") for text in texts.values())
    share = sum(map(comments, texts.values())) / whole
    return [
        f"{code / endpoints:.0f} lines of code an endpoint in labs ({code:,} for {endpoints}; wanted: at most 180)",
        f"{sum(small) / max(1, len(small)):.1f} files a small question ({len(small)} of them; wanted: at most 2)",
        f"{len(texts)} files in explorer/, {whole:,} lines (wanted: at most 600 files)",
        f"Gradio's inside is known in {', '.join(inside)} (wanted: one folder)",
        f"{share:.1%} of the lines have a comment (wanted: about 2%)",
    ]


def _folder(path: Path) -> str:
    return path.parent.relative_to(ROOT).as_posix()


def _question(path: Path, text: str) -> str:
    """The question that a file of a lab belongs to: its folder, what its name begins with, or a Tab's own file; else nothing."""
    if len(path.relative_to(ROOT).parts) > 4:
        return _folder(path)
    if "from explorer.tab import" in text:
        return f"{_folder(path)}/{path.stem}"
    if is_with_a_page(path):
        return f"{_folder(path)}/{path.stem}"
    kind = of_kind(path)
    return f"{_folder(path)}/{path.name.removesuffix(f'_{kind}')}" if kind != path.name else ""


if __name__ == "__main__":
    print("\n".join(measured()))
