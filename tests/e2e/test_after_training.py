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


def test_a_run_is_asked_and_several_share_a_batch(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    visit.tab("Try it")
    visit.page.wait_for_selector("#try-bars .plot[data-drawn]")
    expect(visit.page.locator("#try-said")).to_contain_text("LoRA r=8 · SST-2-like, bundled says positive")
    visit.page.get_by_role("button", name="a pan", exact=True).click()
    expect(visit.page.locator("#try-said")).to_contain_text("says negative")
    visit.page.fill("#try-first textarea", "What a delight!")
    visit.page.click("#ask-run")
    expect(visit.page.locator("#try-said")).to_contain_text("says positive")
    mixed = visit.page.locator("#mix-said")
    expect(mixed).to_contain_text("One batch of 3 rows, each through another adapter")
    before = mixed.inner_text()
    visit.page.click("#mix")
    expect(mixed).not_to_have_text(before)
    visit.page.fill("#try-first textarea", "")
    visit.page.click("#ask-run")
    expect(notice(visit)).to_contain_text("The sentence is empty")


def test_merging_is_drawn_and_a_file_goes_home_and_comes_back(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    visit.page.get_by_role("button", name="Rank 1", exact=True).click()
    expect(visit.page.locator("#run-said")).to_contain_text("LoRA r=1 · SST-2-like, bundled reaches")
    trained = own_run(visit)
    visit.tab("Merge and take home")
    visit.page.click("#merge")
    visit.page.wait_for_selector("#merge-figure .plot[data-drawn]")
    expect(visit.page.locator("#merge-said")).to_contain_text("gives the same logits")
    visit.page.click("#export")
    visit.page.wait_for_selector("#export-file a")
    with visit.page.expect_download() as download:
        visit.page.locator("#export-file a").first.click()
    assert download.value.suggested_filename == "lora-r-1-sst-2-like-bundled-adapter.zip"
    file = Path(download.value.path())
    assert {"adapter_config.json", "adapter_model.safetensors"} <= set(zipfile.ZipFile(file).namelist())
    visit.page.get_by_role("button", name="Import an adapter").click()
    upload(visit, "adapter.zip", file.read_bytes())
    expect(visit.page.locator("#run-picker input")).to_have_value(re.compile("Imported LoRA r=1"))
    own_run(visit, other_than=trained)
    visit.tab("Try it")
    expect(visit.page.locator("#try-said")).to_contain_text("Imported LoRA r=1")


def test_a_pickle_is_refused_on_the_page_with_the_reason(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    visit.tab("Merge and take home")
    visit.page.get_by_role("button", name="Import an adapter").click()
    upload(visit, "adapter_model.bin", b"\x80\x04}q\x00.")
    expect(notice(visit)).to_contain_text("pickle")
    expect(visit.page.locator("#run-picker input")).to_have_value(re.compile("LoRA r=8"))


def test_an_own_file_becomes_the_chosen_task_and_a_broken_one_names_its_line(visit: Visit) -> None:
    visit.open("finetune", "#run-curves")
    visit.page.get_by_role("button", name="Your own examples").click()
    lines = "".join(f"Example {count} is here.,{('lies', 'truth')[count % 2]}\n" for count in range(40))
    upload(visit, "claims.csv", f"claim,verdict\n{lines}".encode())
    expect(visit.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")
    expect(visit.page.locator("#plan")).to_contain_text("6 steps on 32 examples")
    expect(visit.page.get_by_label("Found")).to_have_value(re.compile("classes lies, truth"))
    visit.page.get_by_label("Clear", exact=True).click()
    upload(visit, "broken.csv", b"claim,verdict\nOne.,lies\nTwo.\n")
    expect(notice(visit)).to_contain_text("broken.csv, line 3")
    expect(visit.page.locator("#task-picker input")).to_have_value("claims.csv (your file)")


def upload(visit: Visit, name: str, content: bytes) -> None:
    chosen = panel(visit).locator("input[type=file]")
    chosen.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})


def test_all_methods_are_compared_and_two_can_be_chosen(visit: Visit, tiny_model: str) -> None:
    with_tiny_model(visit, tiny_model)
    visit.tab("Compare all")
    visit.page.wait_for_selector("#compare-trade .plot[data-drawn]")
    for box in panel(visit).get_by_role("checkbox").all():
        box.set_checked(box.get_attribute("name") in ("head", "ia3"))
    type_number(visit, "Epochs", 1)
    type_number(visit, "Seeds", 2)
    before = visit.draws("#compare-trade")
    visit.page.click("#compare")
    expect(visit.page.locator("#compare-costs tbody tr")).to_have_count(3)  # and what counting words reaches
    visit.wait_redrawn("#compare-trade", before)
    expect(visit.page.locator("#compare")).to_be_visible()
    expect(visit.page.locator("#compare-costs")).to_contain_text("mean of 2 seeds")
    expect(visit.page.locator("#compare-trade .textpoint")).to_have_count(2)
    expect(visit.page.locator("#compare-costs th").nth(1)).to_have_text("metric (mean ± 95% interval)")
    expect(visit.page.locator("#compare-curves .legend")).to_contain_text("IA³")
    expect(panel(visit)).to_contain_text("In the paper: LoRA's Tables 1, 2 and 4")
