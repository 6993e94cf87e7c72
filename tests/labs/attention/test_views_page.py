"""The document in which bertviz draws: its parts, its policy, and text that stays text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest
import torch

from explorer.errors import ExplorerError
from explorer.labs.attention import views_document as views_page
from explorer.labs.attention.views import AttentionViewParams, AttentionViewResult
from explorer.labs.attention.views_document import (
    CHANGES,
    DATA,
    as_json,
    changed,
    compressed_template,
    document,
    template,
)
from explorer.labs.attention.views_jobs import attention_view
from explorer.models.loaded_model import LoadedModel

HOSTILE = (
    "</script><script>parent.hacked=1</script>",
    "<!-- <script>",
    "]]>",
    "</title></style>",
    "<img src=x onerror=alert(1)>",
    "\"'`${x} \\ \\u003c",
    "\u2028\u2029",
    "مرحبا 🙂",
    "$& $1 $`",
    "\ud800",
)


class Elements(HTMLParser):
    """Every element, and what scripts hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self._open: dict[str, str | None] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self._open = dict(attrs)
            self.scripts.append((self._open, ""))

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.scripts[-1] = (self._open, self.scripts[-1][1] + data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None


@pytest.fixture
def result(albert: LoadedModel) -> AttentionViewResult:
    with torch.inference_mode():
        return attention_view(albert, AttentionViewParams("the cat sat", "a cat", "model"))


def with_tokens(result: AttentionViewResult, tokens: tuple[str, ...]) -> AttentionViewResult:
    return AttentionViewResult(**{**vars(result), "tokens": tokens})


def data_of(page: str) -> Any:
    inert = [text for attributes, text in Elements(page).scripts if attributes.get("type") == "application/json"]
    assert len(inert) == 1
    return json.loads(inert[0])


def test_only_the_scripts_of_the_document_are_allowed_and_all_of_them() -> None:
    policy = re.search(r'content="(default-src [^"]*)"', template())
    assert policy
    running = [text for attributes, text in Elements(template()).scripts if not attributes]
    digests = [f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in running]
    assert len(running) == 6
    assert policy[1] == f"default-src 'none'; style-src 'unsafe-inline'; script-src {' '.join(digests)}"


def test_nothing_in_it_is_fetched_and_nothing_is_left_to_fill_in() -> None:
    elements = Elements(template())
    assert not {"link", "img", "iframe", "object"} & set(elements.tags)
    assert all("src" not in attributes for attributes, _ in elements.scripts)
    assert template().count(DATA) == 1
    assert "const params = PYTHON_PARAMS" not in template()


def test_texts_come_back_as_they_were_and_add_no_element(result: AttentionViewResult) -> None:
    plain, hostile = document(result), document(with_tokens(result, HOSTILE))
    assert Elements(hostile).tags == Elements(plain).tags
    assert [text for attributes, text in Elements(hostile).scripts if not attributes] == [
        text for attributes, text in Elements(plain).scripts if not attributes
    ]
    assert data_of(hostile)["tokens"] == [text.encode("utf-8", "replace").decode() for text in HOSTILE]


@pytest.mark.parametrize("text", HOSTILE)
def test_json_for_a_script_holds_nothing_that_html_or_a_script_reads(text: str) -> None:
    written = as_json({"tokens": [text]})
    assert not set("<>&'`\u2028\u2029") & set(written)
    assert json.loads(written) == {"tokens": [text.encode("utf-8", "replace").decode()]}


def test_the_weights_are_in_it(result: AttentionViewResult) -> None:
    data = data_of(document(result))
    assert base64.b64decode(data["weights"]) == result.weights
    assert (data["layers"], data["heads"], data["second_starts"]) == ([0, 1, 2], 2, result.second_starts)


@pytest.mark.parametrize("view", ["head", "model"])
def test_bertviz_is_changed_at_every_place_and_nowhere_else(view: str) -> None:
    source = views_page._package_file("bertviz", f"{view}_view.js")
    script = changed(source, CHANGES[view], view)
    for old, new, times in CHANGES[view]:
        assert source.count(old) == times
        assert new in script
        script = script.replace(new, old)
    assert script == source


def test_another_bertviz_is_refused_by_name() -> None:
    source = views_page._package_file("bertviz", "head_view.js").replace(
        "const BOXWIDTH = 110;", "const BOXWIDTH = 111;"
    )
    with pytest.raises(ExplorerError, match=r"head_view\.js is not the one of version 1\.4\.1"):
        changed(source, CHANGES["head"], "head_view.js")
    with pytest.raises(ExplorerError, match="is not installed"):
        views_page._package_file("no_such_package", "x.js")


def test_the_server_sends_it_compressed_at_an_address_of_its_version() -> None:
    assert gzip.decompress(compressed_template()).decode() == template()
    assert len(compressed_template()) < 150_000
    assert re.fullmatch(r"/explorer/attention-view\.html\?v=[0-9a-f]{12}", views_page.template_address())


def test_bertviz_is_read_and_not_imported() -> None:
    code = "import sys; from explorer.labs.attention.views_document import template; template();"
    code += "print({'bertviz', 'torch', 'IPython'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
