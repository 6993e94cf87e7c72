"""Gradio's scripts joined into one: what is joined, what stands in their place, and pages without it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import gradio
import pytest

from deploy import frontend as making
from explorer.engine.local import LocalEngine
from explorer.serving import frontend
from explorer.shell import build_app

needs_npm = pytest.mark.skipif(frontend.joined() is None, reason="`make setup` had no npm to join scripts with")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where what was made is looked for in this test."""
    monkeypatch.setattr(frontend, "MADE", (tmp_path,))
    frontend.joined.cache_clear()
    yield tmp_path
    frontend.joined.cache_clear()


def told(folder: Path, **changed: object) -> None:
    stubs = {"index-1.js": "export{s0_a as a}from'./joined-1.js'"}
    known = {"gradio": gradio.__version__, "first": "index-1.js", "script": "joined-1.js", "stubs": stubs}
    (folder / frontend.JOINED).write_text(json.dumps(known | changed), encoding="utf-8")


def test_all_that_the_pages_are_built_of_is_joined(engine: LocalEngine) -> None:
    shown = {component["type"] for component in build_app(engine).get_config_file()["components"]}
    assert shown - set(making.COMPONENTS) == set()


def test_a_component_brings_its_scripts_and_what_these_import() -> None:
    names = making.joined_scripts()
    assert making.page_script() in names
    imported = {other for name in names for other in making._IMPORTED.findall(making.read(name))}
    assert imported <= set(names), "a script outside would import a stub of the one that imports it"


@pytest.mark.parametrize("gradios", [gradios for gradios, _ in making.MENDED])
def test_what_is_mended_stands_in_the_installed_gradio(gradios: str) -> None:
    scripts = [making.read(name) for name in making.joined_scripts()]
    assert sum(script.count(gradios) for script in scripts) == 1, "deploy/frontend.py was written for another Gradio"
    assert all(gradios not in making.mended(script) for script in scripts)


def test_component_scripts_are_read_from_gradios_table() -> None:
    own = "import.meta.url)"
    table = (
        f"x={{box:{{component:()=>v(()=>import(`./a.js`),[],{own}}},plot:{{base:()=>v(()=>import(`./b.js`),[],{own},"
    )
    table += f"component:()=>v(()=>import(`./c.js`),[1],{own}}},row:{{component:()=>v(()=>import(`./d.js`),[],{own}}}}}"
    assert making.component_scripts(table, ["plot", "box"]) == ["b.js", "c.js", "a.js"]
    with pytest.raises(making.NotMadeError, match="'sunburst'"):
        making.component_scripts(table, ["sunburst"])


def test_names_that_a_script_exports() -> None:
    assert making.exported("var a=1;export{a as b,c,d as default};\n") == ["b", "c", "default"]
    assert making.exported("var a=1;") == []
    with pytest.raises(making.NotMadeError):
        making.exported("export const a=1;")


def test_without_npm_it_says_what_that_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", ["frontend", str(tmp_path / "made")])
    making.main()
    assert "npm could not bring esbuild@" in capsys.readouterr().out
    assert not (tmp_path / "made").exists()


PAGE = '<head><script type="module" src="./assets/index-1.js"></script><link rel="stylesheet" href="./assets/index-2.css"></head>'


def test_a_page_begins_with_the_joined_script(folder: Path) -> None:
    (folder / "joined-1.js").write_text("", encoding="utf-8")
    told(folder)
    page = frontend.dressed(PAGE)
    assert re.findall(r'src="([^"]+)"', page) == ["./assets/joined-1/joined-1.js"]
    assert '<link rel="joined" href="assets/joined-1/index-1.js">' in page
    assert '<link rel="stylesheet" href="assets/joined-1/index-2.css" crossorigin disabled>' in page


@pytest.mark.parametrize("changed", [{"gradio": "0.1"}, {"script": "lost.js"}])
def test_of_another_gradio_or_without_its_file_a_page_stays_as_it_is(folder: Path, changed: dict[str, str]) -> None:
    (folder / "joined-1.js").write_text("", encoding="utf-8")
    told(folder, **changed)
    page = frontend.dressed(PAGE)
    assert re.findall(r'src="([^"]+)"', page) == ["./assets/index-1.js"]
    assert 'rel="joined"' not in page
    assert 'href="assets/index-2.css"' not in page, "the page's own style sheet must not be disabled"


@needs_npm
def test_what_was_joined_is_served_and_all_else_of_gradios_beside_it(address: str) -> None:
    one = frontend.joined()
    assert one
    with urlopen(f"{address}masking", timeout=120) as answer:
        page = answer.read().decode()
    assert page.count(f"./{one.folder}/{one.script}") == 1
    handed = r"export ?\{(.*)\}"
    with urlopen(f"{address}{one.folder}/{one.script}", timeout=120) as answer:
        last = re.findall(handed, answer.read().decode()[-60_000:])[-1]
    names = {name.split(" as ")[-1] for name in last.split(",")}
    for stub in one.stubs.values():
        wanted = re.findall(handed, stub)[0]
        assert {name.split(" as ")[0] for name in wanted.split(",") if name} <= names
    with urlopen(f"{address}{one.folder}/{one.first}", timeout=120) as answer:
        assert answer.read().decode() == one.stubs[one.first]
    other = next(file for file in sorted(making.ASSETS.glob("*.js")) if file.name not in one.stubs)
    with urlopen(f"{address}{one.folder}/{other.name}", timeout=120) as answer:
        assert answer.read() == other.read_bytes()
        assert "immutable" in answer.headers["cache-control"]
    with pytest.raises(HTTPError, match="404"):
        urlopen(f"{address}{one.folder}/none.js", timeout=120)
