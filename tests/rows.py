"""A test over a table: one case, and a failure that names every row that failed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def each_row(
    names: str | tuple[str, ...], table: Iterable[Any], ids: Callable[[Any], object] | Iterable[object] = repr
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Takes what pytest.mark.parametrize takes, for rows that are too small to be cases of their own.

    Every row is tried, whatever became of those before; each gets a `tmp_path` and a `monkeypatch` of its own. Rows that
    are skipped skip the test only if all are.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    sets = [ParameterSet.extract_from(row, isinstance(names, str) and len(columns) == 1) for row in table]
    assert sets, "a table without rows tests nothing"
    assert not any(one.marks for one in sets), "a row that is marked is a case of its own"
    given_names = None if callable(ids) else list(ids)
    assert given_names is None or len(given_names) == len(sets)

    def name_of(number: int) -> str:
        if given_names is not None:
            return str(given_names[number])
        return str(sets[number].id or ", ".join(str(ids(value)) for value in sets[number].values))

    def over(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def each(*instance: Any, **fixtures: Any) -> None:
            failed: list[Exception] = []
            skipped: list[BaseException] = []
            for number, one in enumerate(sets):
                given = dict(zip(columns, one.values, strict=True))
                try:
                    with pytest.MonkeyPatch.context() as own:
                        test(*instance, **fixtures | _of_its_own(fixtures, number, own) | given)
                except pytest.skip.Exception as error:
                    skipped.append(error)
                except (Exception, pytest.fail.Exception) as error:
                    # What pytest raises itself is no Exception, which a group has to consist of.
                    kept = error if isinstance(error, Exception) else AssertionError(str(error))
                    kept.add_note(f"in the row {name_of(number)} of {', '.join(columns)}")
                    failed.append(kept)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(sets)} rows", failed)
            if skipped and len(skipped) == len(sets):
                raise skipped[0]

        left = [one for name, one in signature.parameters.items() if name not in columns]
        each.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return each

    return over


def _of_its_own(fixtures: dict[str, Any], number: int, own: pytest.MonkeyPatch) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if "tmp_path" in fixtures:
        folder: Path = fixtures["tmp_path"] / str(number)
        folder.mkdir()
        made["tmp_path"] = folder
    if "monkeypatch" in fixtures:
        made["monkeypatch"] = own
    return made
