"""Memory's parts as a picture, sentences and tables, from a result made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.finetune import memory as figures
from explorer.labs.finetune.memory import PARTS, Column, Counted, MemoryResult, Seen
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

FULL = Column(
    "Full fine-tuning", (100_000_000, 0, 90_000_000, 90_000_000, 180_000_000, 40_000_000), 90_000_000, 22_500_000
)
LORA = Column("LoRA r=8", (100_000_000, 0, 1_000_000, 1_000_000, 2_000_000, 36_000_000), 1_000_000, 250_000)


def result(*columns: Column) -> MemoryResult:
    counted = (
        Counted("float32", 16, 2_800_000_000_000, 700_000_000_000),
        Counted("mixed precision", 16, 2_800_000_000_000, 350_000_000_000),
        Counted("float16 throughout", 8, 1_400_000_000_000, 350_600_000_000),
        Counted("float16, gradients not kept", 6, 1_050_000_000_000, 350_000_000_000),
    )
    missing = (("Prefix-layer", "not on ALBERT."),)
    sizes = (350_000_000_000, 37_700_000)
    seen = Seen("a run", 1_300_000_000, 140_000_000)
    return MemoryResult("bert", 16, 17.2, columns or (FULL, LORA), missing, counted, 18_874_368, sizes, (3, 2), seen)


def test_the_parts_of_all_methods_are_stacked_and_the_checkpoint_stands_apart() -> None:
    figure = assert_draws(figures.memory_figure(result()))
    stacked = {trace.name: tuple(trace.x) for trace in figure.data if trace.xaxis == "x"}
    assert list(stacked) == [figures.NAMES[part] for part in PARTS if part != "copies"]
    assert [sum(values) for values in zip(*stacked.values(), strict=True)] == [500, 140]
    (disk,) = (trace for trace in figure.data if trace.xaxis == "x2")
    assert tuple(disk.x) == (90, 1)
    assert figure.layout.barmode == "stack"


def test_the_sentence_sets_the_chosen_method_beside_full_fine_tuning() -> None:
    said = "On bert full fine-tuning holds 500 MB, adapters 140 MB."
    adapters = replace(LORA, title="Adapters")
    assert figures.memory_sentence(result(FULL, LORA, adapters)).striptags() == said
    assert figures.memory_sentence(result(FULL)).striptags() == "On bert full fine-tuning holds 500 MB."


def test_the_notes_name_the_largest_part_of_each() -> None:
    text = figures.memory_notes(result()).striptags()
    assert "With batches of 16 texts of 17 tokens full fine-tuning holds 500 MB, of it 36.0% Adam's moments" in text
    assert "LoRA r=8 holds 140 MB, of it 71.4% the model's weights." in text
    assert "360 MB by full fine-tuning against 4 MB by LoRA r=8." in text


def test_what_was_measured_and_what_is_missing_is_said() -> None:
    text = figures.memory_notes(result()).striptags()
    assert "Prefix-layer cannot be had here: not on ALBERT." in text
    assert "while a run trained, the whole server held 1.3 GB" in text
    assert "Measured" not in figures.memory_notes(replace(result(), seen=None))


def test_the_paper_s_figures_stand_beside_the_formula_s() -> None:
    text = figures.gpt3_notes(result()).striptags()
    assert "usual rule for mixed precision gives (2.8 TB)" in text
    assert "float16 (1.05 TB) and these with gradients (1.4 TB)" in text
    assert "18.9M numbers in float16 are 37.7 MB, 9,284 times less" in text
    assert "2 of 3 products with each matrix, which would save 33.3% of the time" in text
    assert "32.5 and 43.1 tokens a second (footnote 5) are 24.6% less time" in text
    table = figures.gpt3_view(result())
    assert "<td>6.9 bytes</td><td>1.2 TB</td><td>350 GB</td><td>3.4</td>" in table


def test_the_table_has_every_part_in_bytes() -> None:
    table = figures.memory_table(result())
    assert ("bert", "LoRA r=8", "activations", 36_000_000) in table.rows
    assert ("bert", "LoRA r=8", "checkpoint", 1_000_000) in table.rows
    assert ("GPT-3 175B", "LoRA r=4, q and v", "checkpoint, float16", 37_700_000) in table.rows
    assert len(table.rows) == 2 * 7 + 2 * 4 + 2


@each_row("text", HOSTILE)
def test_names_stay_text(text: str) -> None:
    made = replace(result(replace(LORA, title=text)), model=text, missing=((text, "no."),), seen=Seen(text, 1, 1))
    assert_safe(figures.memory_sentence(made), text)
    assert_safe(figures.memory_notes(made), text, ("p", "strong"))
    assert "<" not in "".join(figures.memory_figure(made)["layout"]["yaxis"]["ticktext"])


def test_frozen_copies_are_not_counted_as_trained() -> None:
    pissa = Column("PiSSA", (100_000_000, 28_300_000, 600_000, 600_000, 1_200_000, 36_000_000), 1_000_000, 250_000)
    assert "against 2.4 MB by PiSSA" in figures.memory_notes(result(FULL, pissa)).striptags()


@pytest.mark.parametrize(
    ("activations", "said"), [(40_000_000, "and all of the activations"), (36_000_000, "and 90.0% of")]
)
def test_how_many_activations_stay_is_a_number(activations: int, said: str) -> None:
    second = replace(LORA, parts=(*LORA.parts[:-1], activations))
    assert said in figures.memory_notes(result(FULL, second)).striptags()
