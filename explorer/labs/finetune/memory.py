"""What training's memory is made of: parameters, gradients, optimizer and activations of each method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import Panel, Picture, axis, bars, picture, rows
from explorer.charts.words import caption, compact, inside, label, megabytes, percent, prose, quoted, strong
from explorer.engine.protocol import Job
from explorer.kinds import Name
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import params
from explorer.runs.examples import FIRST
from explorer.tables import Table
from explorer.tuning.spec import RunSpec

PARTS = ("weights", "copies", "parameters", "gradients", "moments", "activations")
"""What is in memory, in the order in which it is stacked: what any run holds first."""


@params
class MemoryParams(RunSpec):
    """Settings of a run; run: one whose measured memory is said beside."""

    model: Annotated[str, Name()] = DEFAULT_MODEL
    run: Annotated[str, Name()] = FIRST


@dataclass(frozen=True)
class Column:
    """One method on the model: bytes by PARTS, what it leaves on disk, and how many numbers it trains."""

    title: str
    parts: tuple[int, ...]
    checkpoint: int
    trained: int

    @property
    def total(self) -> int:
        """How many bytes are in memory."""
        return sum(self.parts)


@dataclass(frozen=True)
class Counted:
    """GPT-3 in one precision: bytes a trained number, and bytes in all of full fine-tuning and of LoRA, r = 4 on W_q, W_v."""

    precision: str
    bytes_a_number: int
    full: int
    lora: int


@dataclass(frozen=True)
class Seen:
    """What was measured of a run: of the whole server while it trained, beside the estimate for the run alone."""

    name: str
    server: int
    estimate: int


@dataclass(frozen=True)
class MemoryResult:
    """columns: full fine-tuning, LoRA and the chosen method, if it is neither. missing: (method, why not on this
    model).

    gpt3: by precision. lora_numbers: how many numbers LoRA trains there. checkpoints: bytes in float16, of the whole
    model and of LoRA's numbers. products: passes through the matrices in a step of full fine-tuning and of LoRA.
    """

    model: str
    batch_size: int
    tokens: float
    columns: tuple[Column, ...]
    missing: tuple[tuple[str, str], ...]
    gpt3: tuple[Counted, ...]
    lora_numbers: int
    checkpoints: tuple[int, int]
    products: tuple[int, int]
    seen: Seen | None


NAMES = {
    "weights": "the model's weights",
    "copies": "copies of W",
    "parameters": "trained parameters",
    "gradients": "gradients",
    "moments": "Adam's moments",
    "activations": "activations",
}
TRAINED = ("parameters", "gradients", "moments")
"""What a trained number takes; copies of W are frozen."""

COLOURS = dict(zip(PARTS, ("@muted", "@sixth", "@first", "@second", "@third", "@fifth"), strict=True))

CLAIMED = (1.2e12, 350e9)
THROUGHPUT = (32.5, 43.1)
"""Of GPT-3 175B: memory of full fine-tuning and of LoRA, and tokens a second on one V100 of the two (Hu et al. 2021, section 4.2
and its footnote 5)."""


def memory_table(result: MemoryResult) -> Table:
    """model, method, part, bytes: of the visitor's model, then of GPT-3 by precision."""
    found = [
        (result.model, one.title, part, size)
        for one in result.columns
        for part, size in (*zip(PARTS, one.parts, strict=True), ("checkpoint", one.checkpoint))
    ]
    counted = [(f"all but activations, {one.precision}", one.full, one.lora) for one in result.gpt3]
    for part, full, lora in (*counted, ("checkpoint, float16", *result.checkpoints)):
        found += [("GPT-3 175B", "Full fine-tuning", part, full), ("GPT-3 175B", "LoRA r=4, q and v", part, lora)]
    return Table.of(("model", "method", "part", "bytes"), found)


def memory_sentence(result: MemoryResult) -> Markup:
    """State what the first method holds, and the last one, which is the chosen one if it is another."""
    first, *others = result.columns
    held = [f"On {result.model} ", inside(first.title), " holds ", strong(megabytes(first.total))]
    rest = [", ", inside(others[-1].title), " ", strong(megabytes(others[-1].total))] if others else []
    return prose(*held, *rest, ".")


def _parts_notes(result: MemoryResult) -> Markup:
    """Name the largest part of each method's memory, and compare the first two in what is trained and in activations."""
    each = []
    for one in result.columns:
        size, name = max(zip(one.parts, PARTS, strict=True))
        each.append(
            f"{inside(one.title)} holds {megabytes(one.total)}, of it {percent(size / one.total)} {NAMES[name]}"
        )
    parts = [f"With batches of {result.batch_size} texts of {result.tokens:.0f} tokens {'; '.join(each)}."]
    if len(result.columns) > 1:
        first, second = result.columns[:2]
        own = [sum(_part(one, name) for name in TRAINED) for one in (first, second)]
        parts.append(
            f" What is trained takes 4 numbers of 4 bytes each (itself, its gradient, two moments): {megabytes(own[0])} by "
            f"{inside(first.title)} against {megabytes(own[1])} by {inside(second.title)}. The weights stay, and "
            f"{_of_activations(first, second)} of the activations."
        )
    return caption(*parts)


def _part(column: Column, name: str) -> int:
    return column.parts[PARTS.index(name)]


def _of_activations(first: Column, second: Column) -> str:
    """Say what share of the first method's activations the second one has."""
    share = _part(second, "activations") / (_part(first, "activations") or 1)  # head only may keep none
    return "all" if share >= 1 else percent(share)


def memory_notes(result: MemoryResult) -> Markup:
    """Say of what the methods' memory consists, what was measured, and which methods are missing."""
    lines = [_parts_notes(result)]
    lines += [caption(strong(title), f" cannot be had here: {reason}") for title, reason in result.missing]
    if result.seen:
        lines.append(
            caption(
                "Measured: while ",
                strong(result.seen.name),
                f" trained, the whole server held {megabytes(result.seen.server)}: Python and its libraries, other models and "
                f"runs included. The formula gives {megabytes(result.seen.estimate)} for the run and its model.",
            )
        )
    return Markup("").join(lines)


def memory_figure(result: MemoryResult) -> Picture:
    """Draw a stacked bar a method in memory; below it what it leaves on disk, on an axis of its own."""
    names = [label(one.title, 24) for one in result.columns]
    places = range(len(names))
    stacked = [
        bars(
            places,
            [one.parts[place] / 1e6 for one in result.columns],
            COLOURS[part],
            NAMES[part],
            hover=f"{NAMES[part]}: %{{customdata}}",
            customdata=[megabytes(one.parts[place]) for one in result.columns],
        )
        for place, part in enumerate(PARTS)
        if any(one.parts[place] for one in result.columns)
    ]
    disk = bars(
        places,
        [one.checkpoint / 1e6 for one in result.columns],
        "@fourth",
        texts=[megabytes(one.checkpoint) for one in result.columns],
        hover="checkpoint: %{text}",
        showlegend=False,
    )
    widest = max(one.total for one in result.columns) / 1e6  # plotted in MB, as the axis says
    most = max(one.checkpoint for one in result.columns) / 1e6
    panels = [
        Panel(stacked, axis("MB in memory", span=(0, 1.03 * widest), nticks=6), rows(names), width=2.4),
        # Room for the text beside the longest bar.
        Panel([disk], axis("MB on disk", span=(0, 2 * most), nticks=4), rows(names, outer=True)),
    ]
    height = 170 + 62 * len(names)
    return picture(
        memory_sentence(result),
        panels,
        height=height,
        phone=2 * height + 80,
        legend=True,
        legend_size=14,
        barmode="stack",
    )


def gpt3_view(result: MemoryResult) -> Markup:
    """Tabulate the same formula on GPT-3, beside the paper's figures."""
    found = [
        (one.precision, f"{one.bytes_a_number} bytes", _tera(one.full), _tera(one.lora), f"{one.full / one.lora:.1f}")
        for one in result.gpt3
    ]
    full, lora = CLAIMED
    parameters = result.checkpoints[0] / 2  # float16 takes 2 bytes
    found.append(
        ("the paper's figures", f"{full / parameters:.1f} bytes", _tera(full), _tera(lora), f"{full / lora:.1f}")
    )
    heads = ("GPT-3 175B", "a trained parameter", "full fine-tuning", "LoRA r=4, q and v", "ratio")
    return quoted(heads, found)


def _tera(size: float) -> str:
    return f"{size / 1e12:.3g} TB" if size >= 1e12 else megabytes(size)


def gpt3_sentence() -> Markup:
    """Say how many of the paper's figures the formula explains; it is about published sizes, so always the same."""
    return prose(
        "Of the paper's four figures for GPT-3 the formula explains ",
        strong("two"),
        ", one in part, and one not by the usual rule.",
    )


def gpt3_notes(result: MemoryResult) -> Markup:
    """Say what of the paper's four figures the formula explains, and what it does not."""
    by_name = {one.precision: one for one in result.gpt3}
    mixed, half, bare = (by_name[name] for name in list(by_name)[1:])  # without float32, the first
    whole, small = result.checkpoints
    full, lora = result.products
    slow, quick = THROUGHPUT
    return caption(
        strong("350 GB"),
        f" is explained: GPT-3's frozen weights in float16 are {megabytes(half.lora)}, with all that LoRA trains. ",
        strong("1.2 TB"),
        f" is less than the usual rule for mixed precision gives ({_tera(mixed.full)}): it lies between weights and both moments "
        f"in float16 ({_tera(bare.full)}) and these with gradients ({_tera(half.full)}). The paper does not say how it was "
        "counted; its “up to 2/3” less is what the first gives. ",
        strong("35 MB"),
        f" is explained: {compact(result.lora_numbers)} numbers in float16 are {megabytes(small)}, {whole / small:,.0f} times "
        f"less than {megabytes(whole)}. ",
        strong("25% faster"),
        f" is explained in part: LoRA does {lora} of {full} products with each matrix, which would save "
        f"{percent(1 - lora / full)} of the time; the paper's {slow} and {quick} tokens a second (footnote 5) are "
        f"{percent(1 - slow / quick)} less time. What the rest goes into (activations, the thin products, talk between "
        "processors) is in no formula here.",
    )


MEMORY = Action(Job("explorer.labs.finetune.memory_jobs:memory_parts", on="resources"), MemoryParams, memory_table)
