"""What npm gives the pages, so that a browser fetches less: `make setup` runs this where there is npm.

Plotly without maps and solids is a third of the whole. Gradio's pages are some 60 scripts that fetch one another; esbuild joins
those that our pages need into one. What is left where a joined script stood hands on its names, so that Gradio's other scripts,
which are fetched when they are needed, still share one copy of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import brotli
import gradio
import plotly

ASSETS = Path(gradio.__file__).parent / "templates" / "frontend" / "assets"
ESBUILD = "0.28.2"

COMPONENTS = (
    "accordion",
    "browserstate",
    "button",
    "checkbox",
    "checkboxgroup",
    "code",
    "column",
    "dataframe",
    "dropdown",
    "file",
    "form",
    "group",
    "html",
    "json",
    "markdown",
    "number",
    "radio",
    "row",
    "slider",
    "state",
    "tabitem",
    "tabs",
    "textbox",
    "uploadbutton",
)
"""Gradio's names of all that our pages are built of; a test holds that these are all."""

_IMPORTED = re.compile(r'(?:\bfrom|\bimport)"\./([\w.-]+\.js)"')
_FETCHED = re.compile(r"\bimport\(`\./([\w.-]+\.js)`\)")
_EXPORTED = re.compile(r"export\{([^{}]*)\};?\s*$")
_PAGE_SCRIPT = re.compile(r'<script type="module" crossorigin src="\./assets/([\w.-]+\.js)"></script>')


TOLD_OF_ALL = (
    "async update_loading_stati_state(){await Promise.all(Object.entries(this.loading_stati.current)"
    ".map(([e,t])=>this.update_state_cb(Number(e),{loading_status:t},!1)))}",
    "async update_loading_stati_state(){let o=this.told??={},n=Object.entries(this.loading_stati.current).filter(([e,t])=>"
    "{let s=JSON.stringify(t);return o[e]!==s&&(o[e]=s,!0)});"
    "await Promise.all(n.map(([e,t])=>this.update_state_cb(Number(e),{loading_status:t},!1)))}",
)
"""At each step of each question Gradio tells every part of the page that was ever answered how its own question stands, and
copies the values of all that lies in it. Ours tells those for which that has changed.
"""

COUNTS_FOR_EVER = (
    "function ze(){me(()=>{F(Pe,(performance.now()-w(de))/1e3),W&&ze()})}",
    "function ze(){me(()=>{F(Pe,(performance.now()-w(de))/1e3),W&&(void 0===U||U?.isConnected)&&ze()})}",
)
"""What counts the seconds of a question goes on when its part of the page was taken away meanwhile: from then on sixty frames a
second are drawn. Ours ends with the element that it counts in, `U`.
"""

SOUGHT_IN_ALL = (
    "find_attached_events(e,t){let n=t.filter(t=>t.targets.find(([t])=>t===e.id)).map(t=>{let n=t.targets.find(([t])=>"
    "t===e.id);return n?n[1]:null}).filter(Boolean);return e.props.shared_props.attached_events=n,e}",
    "find_attached_events(e,t){if(this.sought!==t){this.sought=t;this.events=new Map;for(let n of t){let t=new Set;"
    "for(let[e,r]of n.targets)if(!t.has(e)){t.add(e);if(r){let t=this.events.get(e);t?t.push(r):this.events.set(e,[r])}}}}"
    "return e.props.shared_props.attached_events=[...this.events.get(e.id)??[]],e}",
)
"""As a page opens, each of its parts is sought in every event of the page: 200 events for each of 600 parts on the longest page.
Ours goes through the events once.
"""

SOUGHT_IN_TREE = (
    "function Z(e,t){if(e.id===t)return e;if(e.children)for(let n of e.children){let e=Z(n,t);if(e)return e}return null}",
    "function Z(e,t){if(Z.tree!==e||!Z.parts.has(t)){Z.tree=e,Z.parts=new Map;let n=e=>{Z.parts.has(e.id)||Z.parts.set(e.id,e),"
    "e.children?.forEach(n)};n(e)}return Z.parts.get(t)??null}",
)
"""For each value that a question reads or changes Gradio goes through the page's tree, which watches each look at it, until it
meets the part: a sixth of what it takes to open a page. Ours notes where each part is.
"""

ANOTHER_BRANCH = ("a.children=i.children,this.#f(i)}", "a.children=i.children,Z.tree=null,this.#f(i)}")
"""What is drawn again has other parts, which are noted anew."""

COPIED_FOR_NOTHING = (
    "async set_event_args(e,t){let n={},r=await this.get_state_cb?.(e);",
    "async set_event_args(e,t){if(!Object.keys(t).length)return()=>{};let n={},r=await this.get_state_cb?.(e);",
)
"""As a page opens, and at each event, Gradio copies all that an event's part of the page holds, to keep what the event's
arguments would replace. Ours does so where the event has arguments.
"""

MENDED = (TOLD_OF_ALL, COUNTS_FOR_EVER, SOUGHT_IN_ALL, SOUGHT_IN_TREE, ANOTHER_BRANCH, COPIED_FOR_NOTHING)
"""Texts of Gradio 6.31's scripts, each with what is joined in its place; another Gradio's stay as they are."""


class NotMadeError(Exception):
    """Why the pages keep what Gradio and Plotly come in."""


def read(name: str) -> str:
    """One of Gradio's scripts."""
    return (ASSETS / name).read_text(encoding="utf-8")


def page_script() -> str:
    """The name of the script that Gradio's page begins with."""
    found = _PAGE_SCRIPT.findall((ASSETS.parent / "index.html").read_text(encoding="utf-8"))
    if len(found) != 1:
        raise NotMadeError(f"Gradio {gradio.__version__}'s page begins with other than one script: {found}")
    return str(found[0])


def component_scripts(table: str, names: Iterable[str]) -> list[str]:
    """Scripts of components. table: the script that has `name:{component:()=>…import(`./file`)…}` for each."""
    entries = {
        name: start.end() for start in re.finditer(r"(?<=[{,])(\w+):\{(?=\w+:\(\)=>)", table) for name in [start[1]]
    }
    found = []
    for name in names:
        if name not in entries:
            raise NotMadeError(f"Gradio {gradio.__version__} names no script of the component {name!r}")
        found += _FETCHED.findall(table[entries[name] : table.index("import.meta.url)}", entries[name])])
    return found


def joined_scripts() -> list[str]:
    """What is joined: the page's first script, what draws a page, our components, and all that these import at once."""
    first = page_script()
    shells = [name for name in _FETCHED.findall(read(first)) if (ASSETS / name).is_file()]
    pages = [name for shell in shells for name in _FETCHED.findall(read(shell)) if name.startswith("Blocks-")]
    tables = [name for name in shells if "accordion:{" in read(name)]
    if not pages or len(tables) != 1:
        raise NotMadeError(f"Gradio {gradio.__version__} draws its pages in another way than this knows")
    waiting, found = [first, *shells, *pages, *component_scripts(read(tables[0]), COMPONENTS)], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _IMPORTED.findall(read(name))
    return sorted(found)


def exported(script: str) -> list[str]:
    """The names by which others import from a script."""
    last = _EXPORTED.search(script)
    if last is None:
        if re.search(r"\bexport\b[ {*]", script[-2000:]):
            raise NotMadeError("A script exports its names in another way than this knows")
        return []
    return [name.split(" as ")[-1].strip() for name in last[1].split(",")]


def mended(script: str) -> str:
    """A script of Gradio's, without what makes its pages slow."""
    for gradios, ours in MENDED:
        script = script.replace(gradios, ours)
    return script


def join(esbuild: Path, folder: Path) -> None:
    """Write joined-HASH.js and joined.json, which says what stands in place of each script. Raises NotMadeError."""
    names = joined_scripts()
    given = {name: {own: f"s{number}_{own}" for own in exported(read(name))} for number, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        lines = []
        for name in names:
            (work / name).write_text(mended(read(name)), encoding="utf-8")
            handed = ",".join(f"{own} as {new}" for own, new in given[name].items())
            lines.append(f'export{{{handed}}}from"./{name}";' if handed else f'import"./{name}";')
        (work / "all.js").write_text("\n".join(lines), encoding="utf-8")
        outside = [f"--external:./{file.name}" for file in ASSETS.glob("*.js") if file.name not in given]
        options = ["--bundle", "--format=esm", "--minify", "--external:virtual:*", "--log-level=error", *outside]
        command = [str(esbuild), "all.js", "--outfile=joined", *options]
        try:
            subprocess.run(command, cwd=work, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotMadeError(f"esbuild failed: {getattr(error, 'stderr', '') or error}") from error
        text = (work / "joined").read_bytes()
    script = f"joined-{hashlib.sha256(text).hexdigest()[:12]}.js"
    keep(folder / script, text)
    stubs = {
        name: "export{" + ",".join(f"{new} as {own}" for own, new in given[name].items()) + f'}}from"./{script}";'
        for name in names
    }
    told = {"gradio": gradio.__version__, "first": page_script(), "script": script, "stubs": stubs}
    (folder / "joined.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


def keep(file: Path, data: bytes) -> None:
    """Write a file, and the same compressed as well as can be beside it."""
    file.write_bytes(data)
    file.with_name(file.name + ".br").write_bytes(brotli.compress(data, quality=11))


def take_plotly(package: Path, folder: Path) -> None:
    """The small Plotly of npm's package."""
    keep(folder / "plotly-cartesian.min.js", (package / "plotly-cartesian.min.js").read_bytes())


def plotly_release() -> str:
    """The release of Plotly's script that Python's package brings, which its first lines name."""
    with (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").open(encoding="utf-8") as text:
        return text.read(200).partition(" v")[2].split()[0]


def make(folder: Path) -> None:
    """Fill a folder anew. Raises NotMadeError."""
    packages = [f"esbuild@{ESBUILD}", f"plotly.js-cartesian-dist-min@{plotly_release()}"]
    with tempfile.TemporaryDirectory() as temporary:
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", temporary, *packages]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            raise NotMadeError(f"npm could not bring {' and '.join(packages)}") from error
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        modules = Path(temporary) / "node_modules"
        take_plotly(modules / "plotly.js-cartesian-dist-min", folder)
        join(modules / ".bin" / "esbuild", folder)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Make what the pages fetch smaller and fewer, with npm.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(sys.prefix) / "frontend")
    try:
        make(parser.parse_args().folder)
    except NotMadeError as reason:
        print(f"The pages are served as Gradio and Plotly come, which is more to fetch: {reason}")


if __name__ == "__main__":
    main()
