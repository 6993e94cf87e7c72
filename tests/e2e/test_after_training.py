"""What comes after training, in a real browser: runs that are tried, merged, taken home, brought back and compared."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.running import notice, own_run, panel, type_number, with_tiny_model
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def looking(visitor: Visit) -> Visit:
    """The page for the tests that train nothing, each of which opens a tab."""
    visitor.open("finetune", "#run-curves")
    return visitor


@pytest.fixture(scope="module")
def tiny(visitor: Visit, tiny_model: str) -> Visit:
    """The page with a model that trains at once, for those after them."""
    with_tiny_model(visitor, tiny_model)
    return visitor


def test_a_run_is_asked_and_several_share_a_batch(looking: Visit) -> None:
    looking.tab("Try it")
    looking.page.wait_for_selector("#try-bars .plot[data-drawn]")
    expect(looking.page.locator("#try-said")).to_contain_text("LoRA r=8 · SST-2-like, bundled says positive")
    looking.page.get_by_role("button", name="a pan", exact=True).click()
    expect(looking.page.locator("#try-said")).to_contain_text("says negative")
    looking.page.fill("#try-first textarea", "What a delight!")
    looking.page.click("#ask-run")
    expect(looking.page.locator("#try-said")).to_contain_text("says positive")
    mixed = looking.page.locator("#mix-said")
    expect(mixed).to_contain_text("One batch of 3 rows, each through another adapter")
    before = mixed.inner_text()
    looking.page.click("#mix")
    expect(mixed).not_to_have_text(before)
    looking.page.fill("#try-first textarea", "")
    looking.page.click("#ask-run")
    expect(notice(looking)).to_contain_text("The sentence is empty")


def test_a_pickle_is_refused_on_the_page_with_the_reason(looking: Visit) -> None:
    looking.tab("Merge and take home")
    looking.page.get_by_role("button", name="Import an adapter").click()
    upload(looking, "adapter_model.bin", b"\x80\x04}q\x00.")
    expect(notice(looking)).to_contain_text("pickle")
    expect(looking.page.locator("#run-picker input")).to_have_value(re.compile("LoRA r=8"))


def test_an_own_file_becomes_the_chosen_task_and_a_broken_one_names_its_line(looking: Visit) -> None:
    looking.tab("Train")
    looking.page.get_by_role("button", name="Your own examples").click()
    lines = "".join(f"Example {count} is here.,{('lies', 'truth')[count % 2]}\n" for count in range(40))
    upload(looking, "claims.csv", f"claim,verdict\n{lines}".encode())
    expect(looking.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")
    expect(looking.page.locator("#plan")).to_contain_text("6 steps on 32 examples")
    expect(looking.page.get_by_label("Found")).to_have_value(re.compile("classes lies, truth"))
    panel(looking).get_by_label("Clear", exact=True).click()
    upload(looking, "broken.csv", b"claim,verdict\nOne.,lies\nTwo.\n")
    expect(notice(looking)).to_contain_text("broken.csv, line 3")
    expect(looking.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")


def upload(visit: Visit, name: str, content: bytes) -> None:
    chosen = panel(visit).locator("input[type=file]")
    chosen.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_merging_is_drawn_and_a_file_goes_home_and_comes_back(tiny: Visit) -> None:
    tiny.page.get_by_role("button", name="Rank 1", exact=True).click()
    expect(tiny.page.locator("#run-said")).to_contain_text("LoRA r=1 · SST-2-like, bundled reaches")
    trained = own_run(tiny)
    tiny.tab("Merge and take home")
    tiny.page.click("#merge")
    tiny.page.wait_for_selector("#merge-figure .plot[data-drawn]")
    expect(tiny.page.locator("#merge-said")).to_contain_text("gives the same logits")
    tiny.page.click("#export")
    tiny.page.wait_for_selector("#export-file a")
    with tiny.page.expect_download() as download:
        tiny.page.locator("#export-file a").first.click()
    assert download.value.suggested_filename == "lora-r-1-sst-2-like-bundled-adapter.zip"
    file = Path(download.value.path())
    assert {"adapter_config.json", "adapter_model.safetensors"} <= set(zipfile.ZipFile(file).namelist())
    tiny.page.get_by_role("button", name="Import an adapter").click()
    upload(tiny, "adapter.zip", file.read_bytes())
    expect(tiny.page.locator("#run-picker input")).to_have_value(re.compile("Imported LoRA r=1"))
    own_run(tiny, other_than=trained)
    tiny.tab("Try it")
    expect(tiny.page.locator("#try-said")).to_contain_text("Imported LoRA r=1")


def test_all_methods_are_compared_and_two_can_be_chosen(tiny: Visit) -> None:
    tiny.tab("Compare all")
    tiny.page.wait_for_selector("#compare-trade .plot[data-drawn]")
    for box in panel(tiny).get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("name") in ("head", "ia3"))
    type_number(tiny, "Epochs", 1)
    type_number(tiny, "Seeds", 2)
    before = tiny.draws("#compare-trade")
    tiny.page.click("#compare")
    expect(tiny.page.locator("#compare-costs tbody tr")).to_have_count(3)  # and what counting words reaches
    tiny.wait_redrawn("#compare-trade", before)
    expect(tiny.page.locator("#compare")).to_be_visible()
    expect(tiny.page.locator("#compare-costs")).to_contain_text("mean of 2 seeds")
    expect(tiny.page.locator("#compare-trade .textpoint")).to_have_count(2)
    expect(tiny.page.locator("#compare-costs th").nth(1)).to_have_text("metric (mean ± 95% interval)")
    expect(tiny.page.locator("#compare-curves .legend")).to_contain_text("IA³")
    expect(panel(tiny)).to_contain_text("In the paper: LoRA's Tables 1, 2 and 4")
