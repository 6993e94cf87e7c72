"""What a browser fetches first: compressed as it asks, kept, and of the releases that are installed."""

from __future__ import annotations

import gzip
import json
import re
import urllib.error
import urllib.request
from email.message import Message
from pathlib import Path

import brotli
import pytest

from explorer.serving import frontend

OPEN = {"br": brotli.decompress, "gzip": gzip.decompress, "": bytes}


def fetch(address: str, path: str, accepted: str) -> tuple[bytes, Message]:
    request = urllib.request.Request(address + path, headers={"Accept-Encoding": accepted})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read(), answer.headers


@pytest.mark.parametrize("encoding", OPEN)
def test_plotly_is_served_from_here_as_the_browser_takes_it(address: str, encoding: str) -> None:
    body, headers = fetch(address, "explorer/plotly.min.js", encoding)
    assert (headers["content-encoding"] or "") == encoding
    assert OPEN[encoding](body) == frontend.plotly_script().read_bytes()


def test_without_the_small_build_or_with_another_release_the_whole_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontend, "MADE", (tmp_path,))
    assert frontend.plotly_script() == frontend.PLOTLY_WHOLE
    small = tmp_path / frontend.PLOTLY_SMALL
    small.write_text("/**\n* plotly.js (cartesian - minified) v0.0.1\n*/", encoding="utf-8")
    assert frontend.plotly_script() == frontend.PLOTLY_WHOLE
    release = frontend._release(frontend.PLOTLY_WHOLE)
    small.write_text(f"/**\n* plotly.js (cartesian - minified) v{release}\n*/", encoding="utf-8")
    assert frontend.plotly_script() == small


def test_every_style_sheet_that_is_not_fetched_is_in_the_common_one_or_in_the_page(address: str) -> None:
    page, _ = fetch(address, "masking", "")
    links = re.findall(r"<link [^>]*>", page.decode())
    disabled = [link for link in links if "disabled" in link]
    common = next(link for link in links if frontend.STYLE_NAME in link)
    style, headers = fetch(address, re.findall(r'href="([^"]+)"', common)[0], "br")
    text = brotli.decompress(style).decode()
    shown = {Path(path).name for path in re.findall(r'rel="stylesheet" crossorigin href="([^"]+)"', page.decode())}
    assert "immutable" in headers["cache-control"]
    assert len(disabled) > 20
    for link in disabled:
        path = re.findall(r'href="([^"]+)"', link)[0]
        own, kept = fetch(address, path, "")
        assert own.decode() in text or Path(path).name in shown
        assert "immutable" in kept["cache-control"]


def test_a_page_is_told_what_waits_before_its_question(address: str) -> None:
    body, _ = fetch(address, "explorer/line?ago=0.5", "")
    assert json.loads(body) == {"questions": 0, "seconds": 0.0}
    with pytest.raises(urllib.error.HTTPError, match="400"):
        fetch(address, "explorer/line?ago=soon", "")
