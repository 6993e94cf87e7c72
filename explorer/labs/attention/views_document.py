"""bertviz's views as one document that needs no network and runs no script but its own.

bertviz (Vig 2019) writes its weights into the script, twice (once more in a comment that names the marker), and fetches
require.js, d3 and jQuery. Here its two scripts are taken from the installed package, changed at the few places below, and
put into a page with d3 and jQuery from installed packages. The data stand apart from all scripts, as escaped JSON.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from explorer.errors import ExplorerError
from explorer.labs.attention.views import HINTS, AttentionViewResult, view_note, view_title
from explorer.settings import ROOT

ASSETS = ROOT / "assets"
DATA = "@@DATA@@"
"""Where the data go in the template; the page's own script puts them there for a download as `document` does here."""

Change = tuple[str, str, int]
"""What stands in bertviz's script, what takes its place, and how often it must be found."""

_PARAMS: Change = ("const params = PYTHON_PARAMS;", "const params = explorerParams();", 1)

CHANGES: dict[str, tuple[Change, ...]] = {
    "head": (
        _PARAMS,
        ("let config = {};", "let config = window.explorerConfig = {};", 1),
        ("const BOXWIDTH = 110;", "const BOXWIDTH = params.box_width;", 1),
        ("const MATRIX_WIDTH = 115;", "const MATRIX_WIDTH = params.matrix_width;", 1),
        ('.selectAll("line")\n            .data(d => d)', '.selectAll("line")\n            .data(d => d.drawn)', 1),
        ("(d, rightTokenIndex) => TEXT_TOP + rightTokenIndex *", "(d) => TEXT_TOP + d.to *", 1),
        ('.attr("right-token-index", (d, i) => i)', '.attr("right-token-index", (d) => d.to)', 1),
    ),
    "model": (
        _PARAMS,
        ("const config = {};", "const config = window.explorerConfig = {};", 1),
        ("const DIV_WIDTH = 970;", "const DIV_WIDTH = params.width;", 1),
        (
            "7 * (12 / config.totalHeads)",
            "Math.min(7 * (12 / config.totalHeads), "
            "params.thumbnail_height / Math.max(config.leftText.length, config.rightText.length))",
            1,
        ),
        ("renderDetail(att, layerIndex, headIndex);", "renderDetail(att.whole, layerIndex, headIndex);", 1),
        ("(targetIndex + .5)", "(d.to + .5)", 2),
    ),
}
"""bertviz draws a line for every weight, zeros too; here a row is a list of the weights that it draws, which know their token
(`to`). Its widths follow the tokens and the window, the height of a small picture is bounded, and its state can be read."""


def changed(script: str, changes: Sequence[Change], name: str) -> str:
    """Return a script of bertviz with its changes. Raises ExplorerError if it is not the one that they were written
    for.
    """
    # An exact count: a change that hits too little or too much would draw something else.
    for old, new, times in changes:
        if script.count(old) != times:
            raise ExplorerError(
                f"bertviz's {name} is not the one of version 1.4.1 ({old!r} stands in it {script.count(old)} times, not "
                f"{times}). Install the version in requirements.txt."
            )
        script = script.replace(old, new)
    return script


def _package_file(package: str, *parts: str) -> str:
    """Read a text file of an installed package, which is found and not imported: bertviz would import torch."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ExplorerError(f"The package {package} is not installed. Run `make setup` again.")
    return Path(found.origin).parent.joinpath(*parts).read_text(encoding="utf-8")


def _scripts() -> list[str]:
    """Return all scripts in the order in which they run."""
    own = (ASSETS / "views_frame.js").read_text(encoding="utf-8")
    views = [
        f"explorerView = {name!r};\n" + changed(_package_file("bertviz", file), CHANGES[name], file)
        for name, file in (("head", "head_view.js"), ("model", "model_view.js"))
    ]
    names = ("d3.v5.min.js", "jquery.min.js")
    libraries = [(ASSETS / "vendor" / name).read_text(encoding="utf-8") for name in names]
    return [*libraries, own, *views, "explorerStart();"]


_NOTICE = """<!-- Made with the BERT Explorer. Drawn by bertviz 1.4.1 (Jesse Vig, Apache License 2.0; changed: weights are sparse,
widths follow the window) with d3 (BSD 3-Clause) and jQuery (MIT). Nothing is fetched from anywhere. -->"""

_BODY = """<header hidden><h1></h1><p class="note"></p><p class="hint"></p></header>
<main><div id="bertviz"></div></main>"""


@cache
def template() -> str:
    """Return the document, DATA in place of the data. Its policy allows its own scripts, by their digests, alone."""
    # Both end or hide a script wherever they stand in it.
    scripts = [script.replace("</script", "<\\/script").replace("<!--", "<\\!--") for script in _scripts()]
    allowed = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}"
    drawing, page = (
        (ASSETS / f"views_{name}.css").read_text(encoding="utf-8").rstrip() for name in ("drawing", "frame")
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>Attention</title>",
            _NOTICE,
            f"<style>{page}</style>",
            f'<style id="drawing">{drawing}</style>',
            "</head>",
            "<body>",
            _BODY,
            f'<script type="application/json" id="data">{DATA}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


@cache
def compressed_template() -> bytes:
    """Return the document as the server sends it."""
    return gzip.compress(template().encode(), compresslevel=6)


@cache
def template_address() -> str:
    """Return where the page finds the template, relative to the app's root; it changes with the template's content."""
    return f"/explorer/attention-view.html?v={hashlib.sha256(template().encode()).hexdigest()[:12]}"


# The last two are ends of lines in older JavaScript, though not in JSON.
_UNSAFE = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "<>&'`\u2028\u2029"})


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element, wherever in it a visitor's text stands."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_UNSAFE).encode("utf-8", "replace").decode()  # a lone surrogate has no UTF-8


def view_data(result: AttentionViewResult) -> dict[str, Any]:
    """Return what the document draws."""
    return {
        "view": result.view,
        "title": view_title(result),
        "note": view_note(result).striptags(),
        "hint": HINTS[result.view],
        "tokens": list(result.tokens),
        "second_starts": result.second_starts,
        "layers": list(result.layers),
        "heads": result.heads_of_layer,
        "drawn_from": result.drawn_from,
        "counts": base64.b64encode(result.counts).decode(),
        "targets": base64.b64encode(result.targets).decode(),
        "weights": base64.b64encode(result.weights).decode(),
    }


def document(result: AttentionViewResult) -> str:
    """Return the whole document with its data: one file that opens without a network."""
    return template().replace(DATA, as_json(view_data(result)))
