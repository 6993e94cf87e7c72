"""What a link to a page shows elsewhere: our name, a sentence, and a picture by its whole address."""

from __future__ import annotations

import re

from explorer.serving.link_preview import PICTURE, with_preview
from tests.ui.test_frontend import fetch


def tags(html: str) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):[^"]*)" content="([^"]*)">', html))


def test_a_page_is_shown_by_its_own_name_and_picture(address: str) -> None:
    body, _ = fetch(address, "masking", "identity")
    html = body.decode()
    found = tags(html)
    assert found["og:title"] == "BERT Explorer"
    assert found["og:image"] == f"{address.rstrip('/')}/explorer/picture.png"
    assert not re.search(r'<meta[^>]*content="(Gradio|Click to try[^"]*)"', html)
    picture, headers = fetch(address, "explorer/picture.png", "identity")
    assert headers["content-type"] == "image/png"
    assert picture == PICTURE.read_bytes()


def test_an_address_in_the_page_is_no_markup() -> None:
    html = with_preview('<head></head>"root":"https://a.b/<b>"', "A", 'say "no"')
    assert "<b>" not in tags(html)["og:image"]
    assert tags(html)["og:description"] == "say &#34;no&#34;"
