"""The actions of the pages as commands: `list`, `describe NAME`, and `run NAME --parameter value`.

They compute in this process, without a server. Names, bounds, defaults and explanations are those of the pages.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import MISSING
from functools import cache, partial
from pathlib import Path
from typing import Any

import click

import explorer
from explorer import Answer
from explorer.errors import BadInputError, ExplorerError
from explorer.kinds import Flag, Number, OneOf
from explorer.labs import LABS, LiveAction
from explorer.reference import Parameter, reference
from explorer.settings import settings
from explorer.tables import Table

PROGRESS_SECONDS = 0.5
"""Seconds between two lines of progress."""

INTERRUPTED = 130
"""The exit status after Ctrl-C."""

FORMATS = ("text", "csv", "json")


class Failed(click.ClickException):
    """The sentence by which an action says why there is no answer."""

    def show(self, file: Any = None) -> None:
        """Print it to stderr."""
        click.echo(self.message, err=True)


class Refused(Failed):
    """The same for a value that the action cannot use."""

    exit_code = 2


class Actions(click.Group):
    """One command for each action, made when it is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order of the pages."""
        return list(explorer.actions())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        action = explorer.actions().get(cmd_name)
        return None if action is None else _command(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as Click does; the error for an unknown one names the nearest."""
        if self.get_command(ctx, args[0]) is None:
            raise click.UsageError(_unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)


def _unknown(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, explorer.actions(), cutoff=0.5)
    meant = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"No action is called {name!r}.{meant} `list` names all."


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
def main() -> None:
    """The BERT Explorer in a terminal: every figure of its pages as a table."""
    try:
        settings()
    except ValueError as error:
        raise Refused(str(error)) from None


@main.command("list")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
def list_actions(form: str) -> None:
    """Name every action, with its page and one line."""
    rows = [(one.name, f"/{lab.slug}", reference(one).summary) for lab in LABS for one in lab.actions]
    click.echo(_written(Table.of(("action", "page", "about"), rows), form, sys.stdout.isatty()))


@main.command()
@click.argument("name")
@click.pass_context
def describe(ctx: click.Context, name: str) -> None:
    """Explain one action: its parameters, and the columns of its table."""
    parent = click.Context(run_actions, info_name="run", parent=ctx.parent)
    _, command, _ = run_actions.resolve_command(parent, [name])
    assert command is not None
    click.echo(command.get_help(click.Context(command, info_name=name, parent=parent)))


@main.group("run", cls=Actions)
def run_actions() -> None:
    """Run one action, by `run NAME --parameter value`; `describe NAME` explains its parameters."""


@cache
def _command(name: str) -> click.Command:
    action = explorer.actions()[name]
    said = reference(action)
    page = next(lab.slug for lab in LABS if action in lab.actions)
    table = f"Table: {said.columns}" if said.columns else None
    options: list[click.Parameter] = [_option(action, parameter) for parameter in said.parameters.values()]
    options += [
        click.Option(
            ["--format", "form"], type=click.Choice(FORMATS), default="text", help="Of the table; default: text."
        ),
        click.Option(
            ["--output"],
            type=click.Path(dir_okay=False, path_type=Path),
            help="A file for the table, or for what the action gives to take home; default: the terminal.",
        ),
    ]
    return click.Command(
        name,
        callback=partial(_run, name),
        params=options,
        help=f"{said.about}\n\nOn the page /{page}.",
        epilog=table,
        context_settings={"token_normalize_func": lambda token: token.replace("_", "-")},
    )


def _option(action: Any, parameter: Parameter) -> click.Option:
    """Return an option with its parameter's explanation."""
    flag = "--" + parameter.name.replace("_", "-")
    default = _default(explorer.standard_model(action) if parameter.name == "model" else parameter.default)
    unset: Any = {"default": None} if isinstance(parameter.kind, Flag) else {}  # else what is left out would be no
    # No type is given: the value is checked by the declaration, which has the sentence for a wrong one.
    return click.Option(
        [f"{flag}/--no-{flag[2:]}" if isinstance(parameter.kind, Flag) else flag, parameter.name],
        **unset,
        required=parameter.default is MISSING and parameter.name != "model",
        multiple=parameter.several,
        metavar=_metavar(parameter),
        help=f"{parameter.said}{' The option again for each, or all as JSON.' if parameter.several else ''}{default}",
    )


def _metavar(parameter: Parameter) -> str | None:
    if isinstance(parameter.kind, Flag):
        return None
    if isinstance(parameter.kind, Number):
        return "INTEGER" if "whole" in parameter.accepts else "NUMBER"
    return "NAME" if isinstance(parameter.kind, OneOf) else "LIST" if parameter.several else "TEXT"


def _default(value: Any) -> str:
    if value is MISSING or value is None or value == () or value == "":
        return ""
    said = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f" Default: {said if len(said) <= 60 else said[:57] + '…'}"


def _given(parameter: Parameter, value: Any) -> Any:
    """Return an option's value as a page would send it: a list that is written as JSON, or with commas, or option by option."""
    if not parameter.several:
        return value
    read = [_listed(one) for one in value]
    return read if len(read) > 1 else read[0]


def _listed(text: str) -> Any:
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, list) else text


def _run(name: str, form: str, output: Path | None, **options: Any) -> None:
    parameters = reference(explorer.actions()[name]).parameters
    # What was not given is left to the defaults of the parameters.
    given = {one: _given(parameters[one], value) for one, value in options.items() if value is not None and value != ()}
    try:
        if output is not None and not output.parent.is_dir():
            raise BadInputError(f"There is no folder {output.parent} for --output.")
        answer = _last(explorer.follow(name, **given), isinstance(explorer.actions()[name], LiveAction))
        _hand_over(answer, form, output)
    except ExplorerError as error:
        raise (Refused if isinstance(error, BadInputError) else Failed)(str(error)) from None
    except KeyboardInterrupt:
        for run in explorer.stop():
            click.echo(f"Stopped; the run {run} keeps what it has learned: `run follow_run --run {run}`.", err=True)
        raise SystemExit(INTERRUPTED) from None


def _last(answers: Generator[Answer, None, None], live: bool) -> Answer:
    """Return the last answer; meanwhile the progress of a live action goes to stderr."""
    began = told = time.monotonic()
    on_one_line, last = sys.stderr.isatty(), None
    with closing(answers):
        for last in answers:
            now = time.monotonic()
            if live and now - told >= PROGRESS_SECONDS:
                told = now
                click.echo(_progress(last.table, now - began, on_one_line), err=True, nl=not on_one_line)
    if on_one_line and told != began:
        click.echo("\r\033[K", err=True, nl=False)  # \033[K clears the line of progress
    assert last is not None
    return last


def _progress(table: Table, seconds: float, on_one_line: bool) -> str:
    """Return the table's last row, which is the newest, as a line of progress."""
    row = Table.of(table.columns, table.rows[-1:]).as_cells()[-1] if table.rows else ()
    said = ", ".join(f"{name} {cell}" for name, cell in zip(table.columns, row, strict=False) if cell)
    line = f"{seconds:.0f} s: {said or 'begun'}"[: shutil.get_terminal_size().columns - 1]
    return f"\r\033[K{line}" if on_one_line else line


def _hand_over(answer: Answer, form: str, output: Path | None) -> None:
    """Write the table to stdout or a file, or copy the file that the action made."""
    if output is None:
        click.echo(_written(answer.table, form, sys.stdout.isatty()))
        return
    made = _file_of(answer.result)
    try:
        if made is not None:
            shutil.copyfile(made, output)
        else:
            output.write_text(_written(answer.table, form).rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"{output} could not be written: {error.strerror}. Name another file by --output."
        ) from None


def _file_of(result: Any) -> Path | None:
    """Return the file that an action has made: the path that is its result, or that its result holds."""
    path = getattr(result, "path", result)
    return Path(path) if isinstance(path, str) and path.endswith(".zip") else None


def _written(table: Table, form: str, on_terminal: bool = False) -> str:
    if form == "csv":
        return table.as_csv().rstrip("\n")
    if form == "json":
        return table.as_json()
    return table.fitted(shutil.get_terminal_size().columns) if on_terminal else str(table)
