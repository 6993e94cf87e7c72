"""A page that reads the end of its answers' stream late asks its next question by another stream."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

LATE = """{
  const real = window.fetch.bind(window);
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  let asked = 0;
  window.endsRead = 0;
  const slow = () => new TransformStream({
    async transform(chunk, out) {
      const [ends, before] = [new TextDecoder().decode(chunk).includes("close_stream"), asked];
      while (ends && asked === before) await pause(50);
      if (ends) await pause(1000);
      window.endsRead += ends;
      out.enqueue(chunk);
    },
  });
  window.fetch = async (resource, options) => {
    const response = await real(resource, options);
    const url = String(resource?.url || resource);
    asked += url.includes("/queue/join");
    return url.includes("/queue/data") ? new Response(response.body.pipeThrough(slow()), response) : response;
  };
}"""
"""A browser so busy that it reads the end of a stream a second after the server has confirmed the next question."""

TIMES = 4


def test_a_question_put_as_a_stream_ends_is_answered_though_the_end_is_read_late(visit: Visit, tiny_model: str) -> None:
    page = visit.page
    page.add_init_script(LATE)
    visit.open("masking", "#fill-figure")
    open_tab(page, "How likely?")
    open_tab(page, "Thirty minimal pairs")
    page.wait_for_selector("#minimal-pairs-figure .plot[data-drawn]")
    # Gradio's client may close a stream before its end has come, so both are asked again until one end is read late.
    for _ in range(TIMES):
        for model, named in ((tiny_model, re.escape(tiny_model[:12])), ("albert-mini", "albert-mini")):
            visit.choose(model)
            page.locator("#pairs-start").click()
            expect(page.locator("#minimal-pairs-said")).to_contain_text(re.compile(f"{named}.* ranks .* of 30"))
        if page.evaluate("window.endsRead"):
            break
    assert page.evaluate("window.endsRead")
    visit.assert_unharmed()
