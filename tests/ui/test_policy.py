"""What a page's policy lets run: what the server wrote, and nothing that comes into it as HTML."""

from __future__ import annotations

import httpx
import pytest

from explorer.labs import LABS
from explorer.labs.attention.views_document import template
from explorer.serving.policy import bare_policy, digest, framed_by, inline_scripts, page_policy

PAGE = (
    "<head><script>one()</script><script data-a='b'>\ntwo()\n</script><script type=module src='x.js'></script></head>"
)


def test_the_scripts_of_a_page_are_allowed_one_by_one() -> None:
    assert inline_scripts(PAGE) == ["one()", "\ntwo()\n"]
    policy = page_policy(PAGE, ["three()"], "https://school.example")
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert [source for source in scripts.split() if source.startswith("'sha256-")] == [
        digest("one()"),
        digest("\ntwo()\n"),
        digest("three()"),
    ]
    assert "'unsafe-inline'" not in scripts
    assert "default-src 'none'" in policy
    assert policy.endswith("frame-ancestors 'self' https://school.example")


def test_a_digest_is_the_one_that_browsers_compute() -> None:
    assert digest("alert('Hello, world.');") == "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"


def test_nobody_else_may_frame_the_app_where_no_site_is_named() -> None:
    assert framed_by("") == "frame-ancestors 'self'"


def test_other_answers_run_nothing_at_all() -> None:
    assert "script-src" not in bare_policy("")
    assert bare_policy("").startswith("default-src 'none'")


@pytest.mark.parametrize("path", ["", "masking", LABS[-1].slug])
def test_every_page_comes_with_its_own(address: str, path: str) -> None:
    answer = httpx.get(address + path)
    policy = answer.headers["content-security-policy"]
    for script in (*inline_scripts(answer.text), *inline_scripts(template())):
        assert digest(script) in policy
    assert httpx.get(address + path).headers["content-security-policy"] == policy, "of a page that was kept"
