"""The ledger along the path: what each member of the family gets out of a text, stores, trains and takes, measured here.

A cell is filled at the station that it belongs to, on the visitor's own sentence where one matters, by the question that the
station's page asks too. The browser keeps what was measured (assets/ledger.js); nothing of it stays on the server.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, fields
from typing import Any

from markupsafe import Markup

import explorer
from explorer.action import LiveAction
from explorer.charts.words import compact, milliseconds, number
from explorer.engine.protocol import Engine, Job, answer
from explorer.errors import BadInputError
from explorer.path import PATH

BERT = "bert-mini"
BATCH, LENGTH, ROUNDS = 8, 64, 6
"""What every forward pass reads: texts, tokens of each; and how often it is timed."""

SHARE, FEW = "0.5", 8
"""The share of heads and neurons that is taken out, and the examples for that: how many are left doesn't depend on them."""

TURNS = 16
"""Texts in the batch on which the whole and the pruned model take turns: that of the pruning table's milliseconds."""


@dataclass(frozen=True)
class Measured:
    """A number with its unit; as the table writes it, and as a sentence does; and the question that it is from.

    busy: whether the machine was, so that a time compares with no other and is taken again.
    """

    value: float
    unit: str
    said: str
    phrase: str
    source: str
    busy: bool = False


Ask = Callable[..., Awaitable[Any]]
"""Asks an action by its name for a model: `await ask("corrupt", "bert-mini", text=...)` is its last result."""

Measure = Callable[[Ask, str], Awaitable[Measured]]
"""Measures a cell, on a sentence."""


def _signal(model: str) -> Measure:
    async def measure(ask: Ask, text: str) -> Measured:
        drawn = await ask("corrupt", model, text=text)
        own = [token for token in drawn.tokens if not token.special]
        return _per_100(sum(token.loss is not None for token in own), len(own), f"corrupt, {model}")

    return measure


async def _signal_of_electra(ask: Ask, text: str) -> Measured:
    model = "electra-mini-discriminator"
    drawn = await ask("replaced_tokens", model, text=text)
    rows = _table("replaced_tokens", drawn)
    return _per_100(sum(row["probability"] is not None for row in rows), len(rows), f"replaced_tokens, {model}")


def _per_100(taught: int, tokens: int, source: str) -> Measured:
    value = 100 * taught / max(tokens, 1)
    phrase = f"{value:.1f} signals per 100 tokens"
    return Measured(value, "per 100 tokens", f"{value:.1f}", phrase, f"{source}: {taught} of {tokens} tokens")


async def _count(ask: Ask, model: str) -> int:
    counted = _table("count_parameters", await ask("count_parameters", base=model))
    return int(next(row["count"] for row in counted if row["part"] == "all"))


async def _trained(ask: Ask, model: str, method: str) -> int:
    return sum(int(row["trainable"]) for row in _table("plan_run", await ask("plan_run", model, method=method)))


def _stored(model: str) -> Measure:
    async def measure(ask: Ask, text: str) -> Measured:
        return _parameters(await _count(ask, model), "stored", f"count_parameters, {model}")

    return measure


async def _stored_of_lora(ask: Ask, text: str) -> Measured:
    count = await _count(ask, BERT) + await _trained(ask, BERT, "lora")
    return _parameters(count, "stored", f"count_parameters and plan_run, {BERT} with LoRA")


async def _stored_of_pruned(ask: Ask, text: str) -> Measured:
    *_, after = await _pruned(ask)
    return _parameters(after["parameters"], "stored", f"prune, {BERT}, half of its heads and neurons")


def _to_train(model: str, method: str = "full") -> Measure:
    async def measure(ask: Ask, text: str) -> Measured:
        return _parameters(await _trained(ask, model, method), "trained", f"plan_run, {model}, {method}")

    return measure


def _parameters(count: int, what: str, source: str) -> Measured:
    return Measured(count, "parameters", compact(count), f"{compact(count)} parameters {what}", source)


def _pass(model: str, method: str = "full", form: str = "plain") -> Measure:
    async def measure(ask: Ask, text: str) -> Measured:
        timed = await ask("latency", model, methods=[method], batch=BATCH, length=LENGTH, repeats=ROUNDS)
        value = next(row["milliseconds"] for row in _table("latency", timed) if row["form"] == form)
        said, source = milliseconds(value), f"latency, {model}{', on a busy machine' if timed.is_busy else ''}"
        return Measured(value, "ms", said, f"{said} a forward pass", source, timed.is_busy)

    return measure


async def _pass_of_pruned(ask: Ask, text: str) -> Measured:
    before, after = await _pruned(ask)
    value = after["milliseconds"] / before["milliseconds"]
    phrase = f"{number(value)} times BERT's forward pass"
    source = f"prune, {BERT}: the two in turns, on a batch of {TURNS}"
    return Measured(value, "times BERT's", f"{number(value)} × BERT's", phrase, source)


async def _pruned(ask: Ask) -> list[dict[str, Any]]:
    return _table("prune", await ask("prune", BERT, share=SHARE, examples=FEW, held_out=FEW))


COLUMNS = {
    "signal": "training signal per 100 tokens",
    "stored": "parameters stored",
    "trained": "parameters trained for a task",
    "time": f"a forward pass ({BATCH} texts of {LENGTH} tokens)",
}

ROWS = {
    "bert": "BERT",
    "roberta": "RoBERTa",
    "albert": "ALBERT",
    "electra": "ELECTRA",
    "distilbert": "DistilBERT",
    "lora": "LoRA on BERT",
    "pruned": "BERT, pruned by half",
}
"""In the order of the path."""

_MODELS = {
    "bert": BERT,
    "roberta": "roberta-mini",
    "albert": "albert-mini",
    "electra": "electra-mini-discriminator",
    "distilbert": "distilbert-mini",
}


@dataclass(frozen=True)
class Cell:
    """A cell: where it is filled, and how; if that takes many seconds, only after a press."""

    to: str
    measure: Measure
    pressed: bool = False


_CORRUPT, _ROW, _RECIPE, _SIZES = "masking#tab=corrupt", "pretrain", "models#tab=recipe", "models#tab=sizes"
_REPLACED, _STUDENT, _LORA, _PRUNE = "replaced", "distillation", "finetune#tab=compare", "pruning"
_STATIONS = {"bert": _ROW, "roberta": _RECIPE, "albert": _SIZES, "electra": _REPLACED, "distilbert": _STUDENT}

CELLS: dict[str, Cell] = {
    "bert.signal": Cell(_CORRUPT, _signal(BERT)),
    "roberta.signal": Cell(_RECIPE, _signal("roberta-mini")),
    "albert.signal": Cell(_SIZES, _signal("albert-mini")),
    "electra.signal": Cell(_REPLACED, _signal_of_electra),
    "distilbert.signal": Cell(_STUDENT, _signal("distilbert-mini")),
    **{f"{row}.stored": Cell(_STATIONS[row], _stored(model)) for row, model in _MODELS.items()},
    **{f"{row}.time": Cell(_STATIONS[row], _pass(model)) for row, model in _MODELS.items()},
    **{f"{row}.trained": Cell(_LORA, _to_train(model)) for row, model in _MODELS.items()},
    "lora.stored": Cell(_LORA, _stored_of_lora),
    "lora.trained": Cell(_LORA, _to_train(BERT, "lora")),
    "lora.time": Cell(_LORA, _pass(BERT, "lora", "attached")),
    "pruned.stored": Cell(_PRUNE, _stored_of_pruned, pressed=True),
    "pruned.time": Cell(_PRUNE, _pass_of_pruned, pressed=True),
}
"""By row and column. What starts from a trained BERT has no signal of its own, and what is left of one no task yet."""


def station_of(to: str) -> int:
    """Return the number of a station on the path, as the front page counts them."""
    return next(number for number, station in enumerate(PATH, start=1) if station.to == to)


async def measured(engine: Engine, name: object, text: object) -> dict[str, Any]:
    """Measure one cell. Returns what the browser keeps of it. Raises ExplorerError."""
    if not isinstance(name, str) or name not in CELLS or not isinstance(text, str):
        raise BadInputError("The ledger has no such cell.")
    cell, (row, column) = CELLS[name], name.split(".")

    async def ask(action: str, model: str = "", **given: Any) -> Any:
        return await _asked(engine, action, model, given)

    found = await cell.measure(ask, text)
    about = {"row": ROWS[row], "column": COLUMNS[column], "station": station_of(cell.to)}
    return {**asdict(found), **about, "text": text if column == "signal" else ""}


async def _asked(engine: Engine, name: str, model: str, given: dict[str, Any]) -> Any:
    action = explorer.actions()[name]
    job = action.source if isinstance(action, LiveAction) else action.job
    assert isinstance(job, Job)
    named = {"model": model} if model and any(field.name == "model" for field in fields(action.params)) else {}
    return await answer(engine, job, action.params(**given, **named), model if job.on == "model" else "")


def _table(name: str, result: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = explorer.actions()[name].table(result).records()
    return rows


def line(slug: str, tab: str, first: bool, sentence: str) -> Markup:
    """Return the line at the foot of a station's tab; nothing at another's. first: whether the tab is its page's first.
    sentence: as in `whole`.
    """
    here = {f"{slug}#tab={tab}", *([slug] if first else [])}
    names = [name for name, cell in CELLS.items() if cell.to in here]
    if not names:
        return Markup("")
    at_once = [name for name in names if not CELLS[name].pressed]
    return _LINE.format(json.dumps(names), json.dumps(at_once), len(ROWS), sentence)


def whole(sentence: str) -> Markup:
    """Return the whole ledger for the front page. sentence: what is measured on until a visitor types one."""
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(head) for head in COLUMNS.values())
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            title, Markup("").join(_place(row, name) for name in COLUMNS)
        )
        for row, title in ROWS.items()
    )
    return _WHOLE.format(heads, rows, sentence, sentence, BATCH, LENGTH, TURNS, ", ".join(_MODELS.values()))


def _place(row: str, column: str) -> Markup:
    cell = CELLS.get(f"{row}.{column}")
    if cell is None:
        return Markup("<td><small>–</small></td>")
    empty = Markup('<a href="{}">at station {}</a>').format(cell.to, station_of(cell.to))
    return Markup('<td data-cell="{}.{}"><span class="filled"></span><span class="empty">{}</span></td>').format(
        row, column, empty
    )


_LINE = Markup(
    '<p class="of-ledger" data-cells="{}" data-at-once="{}" data-rows="{}" data-example="{}" hidden><span role="status"></span> '
    '<button type="button" class="plain" data-ledger="here" hidden>Measure it here</button> '
    '<a href="./#ledger">See the ledger</a></p>'
)

_WHOLE = Markup("""<details id="ledger">
<summary>Your ledger<small>what each of them gets, stores, trains and takes</small></summary>
<div class="ledger-table" tabindex="0" role="region" aria-label="The ledger">
<table><thead><tr><th scope="col">model</th>{}</tr></thead><tbody>{}</tbody></table></div>
<p>A cell is filled at its station, or all of them now:
<button type="button" class="plain" data-ledger="fill">Fill all</button>
<button type="button" class="plain" data-ledger="save">Take home as CSV</button>
<button type="button" class="plain" data-ledger="empty">Empty it</button> <span role="status"></span></p>
<p>The signal is of one sentence for all, <q data-example="{}">{}</q>: how many of its tokens the loss is taken from.
The time is of the same {} texts of {} tokens, on this server's machine, of each model at another moment; where the machine was
busy, it is taken again when you come back or fill all. The pruned BERT takes turns with the whole one, on {} texts of a task.
All are small bundled models ({}). LoRA and pruning begin with a BERT that is trained, and so have no such signal of their
own.</p></details>""")
