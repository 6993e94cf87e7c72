"""What the model says to a step's question, computed as the step's page computes it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import MISSING, dataclass
from typing import Any
from urllib.parse import parse_qsl

import explorer
from explorer.action import Action, LiveAction
from explorer.engine.protocol import Engine, Job, answer
from explorer.errors import BadInputError
from explorer.lessons.schema import Answer, Cell, Step, Truth
from explorer.params import declared
from explorer.tables import Table
from explorer.worked import known

MOST_BESIDE = 20
"""Rows whose numbers are shown beside a class's answers."""


RECORDS = ("runs", "student_seeds")
"""Actions that read the records of runs; all others of their kind start one."""


@dataclass(frozen=True)
class Measured:
    """A step's answer. by: who says so. beside: the model's number for each word or choice. reveal: what may be said of it."""

    value: Cell | None
    said: str
    by: str
    beside: tuple[tuple[str, float], ...] = ()
    reveal: str = ""


async def measure(engine: Engine, step: Step) -> Measured:
    """Answer a step's question. Raises BadInputError where the lesson asks for what there is not, and the action's errors."""
    asked = step.answer
    if asked is None:
        return Measured(None, "", "", reveal=step.reveal.text if step.reveal else "")
    if asked.truth is None:
        return _finished(step, asked.right, "" if asked.right is None else shown(asked.right, asked), "")
    table, model = await _table(engine, step, asked.truth)
    rows = _rows(table, asked)
    value = _value(rows, asked.truth)
    if asked.kind == "number" and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise BadInputError(f"{asked.truth.column} of {asked.truth.action} is no number here: {str(value)[:40]!r}.")
    value = value if asked.kind == "number" else str(value)
    return _finished(step, value, shown(value, asked), asked.truth.by or model, _beside(rows, asked))


def _finished(step: Step, value: Any, said: str, by: str, beside: tuple[tuple[str, float], ...] = ()) -> Measured:
    reveal = step.reveal.text if step.reveal and step.reveal.holds(value) else ""
    return Measured(value, said, by, beside, reveal)


def shown(value: Cell, asked: Answer) -> str:
    """Return an answer as it is shown, with its unit."""
    if asked.kind != "number" or isinstance(value, str):
        return str(value)
    gap = "" if asked.unit in ("", "%") else " "
    return f"{value:,.{asked.digits}f}{gap}{asked.unit}"


async def _table(engine: Engine, step: Step, truth: Truth) -> tuple[Table, str]:
    """Return the table, and the model that it is of."""
    action = explorer.actions().get(truth.action)
    job = getattr(action, "job", None) or getattr(action, "source", None)
    if action is not None and truth.action in RECORDS:
        params, model = _question(action, step, truth)
        return action.table(await asyncio.to_thread(_newest, action, engine, params)), model
    if action is None or not isinstance(job, Job):
        raise BadInputError(f"{truth.action[:40]!r} is no action that answers by itself.")
    params, model = _question(action, step, truth)
    found = known(action.name, action.openings, model, params)
    result = found.result if found else await answer(engine, job, params, model if job.on == "model" else "")
    if action.check is not None:
        action.check(result)
    return action.table(result), getattr(params, "model", model)


def _newest(action: LiveAction, engine: Engine, params: Any) -> Any:
    """Return what the records of the bundled runs say now."""
    return next(result for result in action.follow(engine, params, owner="") if result is not None)


def _question(action: Action | LiveAction, step: Step, truth: Truth) -> tuple[Any, str]:
    """Return an action's parameters and its model. Raises BadInputError."""
    if truth.opening is not None:
        if not 0 <= truth.opening < len(action.openings):
            raise BadInputError(f"The tab of {action.name} opens with no answer of number {truth.opening}.")
        return action.openings[truth.opening].params, action.openings[truth.opening].model
    before, _, fragment = step.at.partition("#")
    asked = {**dict(parse_qsl(before.partition("?")[2])), **dict(parse_qsl(fragment, keep_blank_values=True))}
    names = declared(action.params)
    values = {name: value for name, value in {**asked, **truth.given}.items() if name in names}
    model = str(truth.given.get("model") or asked.get("model") or explorer.standard_model(action))
    if "model" in names:
        values.setdefault("model", model)
    missing = [name for name, field in names.items() if field.default is MISSING and name not in values]
    unknown = [name for name in truth.given if name not in names and name != "model"]
    if missing or unknown:
        raise BadInputError(f"{action.name} has no {unknown[0]}." if unknown else f"{action.name} needs {missing[0]}.")
    return action.params(**values), model


def _rows(table: Table, asked: Answer) -> list[dict[str, Any]]:
    """Return the rows that count, with the words for their cells. Raises BadInputError where there are none."""
    truth = asked.truth
    assert truth
    for name in (truth.column, *truth.where, *filter(None, (truth.largest, truth.smallest, truth.beside))):
        if name not in table.columns:
            raise BadInputError(f"{truth.action} gives {', '.join(table.columns)}, and no {name[:40]!r}.")
    rows: list[dict[str, Any]] = table.records()
    rows = [row for row in rows if all(_same(row[name], cell) for name, cell in truth.where.items())]
    for row in rows:
        row[truth.column] = truth.called.get(str(row[truth.column]), row[truth.column])
    if asked.kind == "choice":
        rows = [row for row in rows if str(row[truth.column]) in asked.choices]
    if not rows and truth.take != "count":
        raise BadInputError(f"{truth.action} gives no such row here.")
    return rows


def _same(cell: Any, wanted: Any) -> bool:
    return bool(cell == wanted) or str(cell) == str(wanted)


def _value(rows: Sequence[dict[str, Any]], truth: Truth) -> Any:
    cells = [row[truth.column] for row in rows]
    if truth.take != "value":
        return _taken(cells, truth) * truth.times
    if truth.largest or truth.smallest:
        order = truth.largest or truth.smallest
        pick = max if truth.largest else min
        cell = pick((row for row in rows if _is_number(row[order])), key=lambda row: row[order])[truth.column]
    elif -len(cells) <= truth.row < len(cells):
        cell = cells[truth.row]
    else:
        raise BadInputError(f"{truth.action} gives {len(cells)} rows here, and none of number {truth.row}.")
    return cell * truth.times if _is_number(cell) else cell


def _taken(cells: Sequence[Any], truth: Truth) -> float:
    numbers = [float(cell) for cell in cells if isinstance(cell, (int, float))]
    if truth.take == "count":
        return float(len(cells))
    if not numbers:
        raise BadInputError(f"{truth.column} of {truth.action} has no numbers here.")
    return sum(numbers) if truth.take == "sum" else sum(numbers) / len(numbers)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _beside(rows: Sequence[dict[str, Any]], asked: Answer) -> tuple[tuple[str, float], ...]:
    """Return the model's number for each word or choice, in the table's order."""
    truth = asked.truth
    if truth is None or not truth.beside or asked.kind == "number":
        return ()
    largest: dict[str, float] = {}
    for row in rows:
        name, number = str(row[truth.column]), row[truth.beside]
        if _is_number(number):
            largest[name] = max(number * truth.times, largest.get(name, number * truth.times))
    return tuple(largest.items())[:MOST_BESIDE]
