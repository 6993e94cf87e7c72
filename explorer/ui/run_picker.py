"""The choice of the run that a page shows: remembered by the browser, named by the URL, or the one that trains."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.errors import BadInputError, ExplorerError, readable
from explorer.runs.examples import OWNER
from explorer.runs.record import RunRecord
from explorer.runs.report import score_text
from explorer.serving.front_door import lecturers_key
from explorer.serving.refusal import Refusal
from explorer.serving.visitors import LECTURER_PREFIX, NAMES, address_of, owner_of
from explorer.settings import settings
from explorer.tasks.task import MASKED, SPAN, WRITTEN
from explorer.tuning.kinds import kind_of
from explorer.ui.components import apart, is_open, once_known, rich_text
from explorer.ui.kit import QUIET
from explorer.ui.page import Page
from explorer.ui.sign_in import sign_in_button
from explorer.ui.whose import OF_RUN

VISITOR_KEY = "bert-explorer-visitor"
RUNS_KEY = "bert-explorer-runs"

_KEEP_URL = """(run, ...kept) => {
  const address = new URL(window.location.href);
  if (run) address.searchParams.set("run", run);
  window.history.replaceState(window.history.state, "", address);
  return [run, ...kept];
}"""


def run_label(record: RunRecord) -> str:
    """Return one line of the list: the run's name, its score or its state, and whether it is a worked example."""
    score = record.score
    reached = "" if score is None else score_text(record.leading_metric, score)
    state = "" if record.status.has_weights else record.status.value
    kind = "worked example" if record.owner == OWNER else ""
    return " · ".join(part for part in (record.name, reached, state, kind) if part)


def _with(shown: RunRecord | None, records: Sequence[RunRecord]) -> Sequence[RunRecord]:
    """Return a list with the run that is shown, which may be another visitor's."""
    if shown is None or shown.run_id in {record.run_id for record in records}:
        return records
    return [shown, *records]


def run_choices(records: Sequence[RunRecord]) -> list[tuple[str, str]]:
    """Return the dropdown's choices; two runs of one name are told apart by their id, and the lecturer is told whose
    they are.
    """
    several = len({record.owner for record in records if record.owner != OWNER}) > 1
    labels = [
        f"{run_label(record)} · {record.whose}" if several and record.owner != OWNER else run_label(record)
        for record in records
    ]
    return [
        (f"{label} · {record.run_id[:5]}" if labels.count(label) > 1 else label, record.run_id)
        for label, record in zip(labels, records, strict=True)
    ]


def _sort(record: RunRecord) -> str:
    """Return what a run learned to do: classes, answers, texts, hidden words, or a model of its own."""
    return "nothing" if record.from_nothing else kind_of(record.spec.method, record.kind).slug


_DOES = {
    "nothing": "is a model that began from nothing",
    MASKED: "fills masks",
    WRITTEN: "writes texts",
    SPAN: "finds answers in a text",
}


def _does(record: RunRecord) -> str:
    """Return what a run does, to follow its name."""
    if not record.status.has_weights:
        return f"is {record.status.value}"
    said = _DOES.get(_sort(record), "gives classes" if record.labels else "gives a score")
    return f"{said} ({record.spec.method})"


class RunPicker:
    """The visitor's name and the chosen run on one page. `attached` is the trigger after which both are known.

    accept: returns whether the page lists a run. needs: what the page asks of a run, for the sentence about a link to
    another. opens: returns whether the page may open with a run; one that is only listed is shown if the visitor or a
    link names it.
    """

    def __init__(
        self,
        page: Page,
        accept: Callable[[RunRecord], bool] = lambda record: True,
        needs: str = "a run",
        opens: Callable[[RunRecord], bool] = lambda record: True,
    ) -> None:
        self.page, self.accept, self.needs, self.opens = page, accept, needs, opens
        self._first: dict[int, list[tuple[str, str]]] = {}
        # A fixed secret: Gradio's own is new with each start, and names would be lost.
        self.memory = gr.BrowserState("", storage_key=VISITOR_KEY, secret=VISITOR_KEY)
        self.remembered = gr.BrowserState([], storage_key=RUNS_KEY, secret=RUNS_KEY)
        self.unasked = gr.Textbox("", label="opened with", visible="hidden")
        self.visitor = gr.Textbox("", label="visitor", visible="hidden")
        with gr.Row(elem_classes=["run-row"]):
            self.label = gr.HTML(self._label(""))
            self.run = self.dropdown(
                "Run", elem_id="run-picker", elem_classes=[OF_RUN], show_label=False, container=False
            )
            if settings().has_login:
                sign_in_button(page)
        self.remark = rich_text(elem_classes=["run-remark"])
        self._known = gr.Number(0, visible="hidden", label="run known")
        self.run.input(lambda: "", None, [self.remark], **QUIET)

    def dropdown(self, label: str, none: str = "", **options: Any) -> gr.Dropdown:
        """Return a list of runs; any id may be typed or sent. none: the first entry, if there may be no run."""
        first = [(none, "")] if none else []
        value = options.pop("value", "" if none else None)
        made = gr.Dropdown(first, value=value, label=label, allow_custom_value=True, **options)
        self._first[made._id] = first
        return made

    def beside(self, shown: gr.Dropdown, choices: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the choices of one of these lists, from those of the runs."""
        return [*self._first[shown._id], *choices]

    def wire(self, *others: gr.Dropdown) -> Callable[..., Any]:
        """Restore the visitor's name and runs when the page opens; `others` are lists that get the same choices."""
        attached = self.page.opened(
            self.restore,
            [self.memory, self.remembered],
            [self.memory, self.visitor, self.run, self.unasked, self.remark, *others],
            **QUIET,
        )
        kept = [self.remembered, self.unasked]
        self.run.change(self._remember, [self.run, *kept], kept, js=_KEEP_URL, **QUIET)
        self.run.change(self._label, [self.run], [self.label], **QUIET)
        known = attached.then(fn=None, js="() => Date.now()", inputs=None, outputs=[self._known], **QUIET)
        # A press that waited comes after what the page asks by itself, whose stream would end the press's.
        attached = known.then(fn=None, js="() => { window.explorerKnows?.('run'); return []; }", **QUIET)
        self._others = others
        then: Callable[..., Any] = attached.then
        return then

    def at_opening(self, tab: gr.Tab) -> list[Callable[..., Any]]:
        """Return the triggers that fire when a tab is opened and the run is known.

        An address may open the page at a tab, which is then selected before there is a run.
        """
        return [once_known(self.run, tab.select), apart(self._known.change, where=is_open(tab))]

    def restore(self, memory: Any, remembered: Any, request: gr.Request) -> list[Any]:
        """Return the browser's name (a new one on a first visit, the lecturer's with their link) and the run to show."""
        visitor = memory if isinstance(memory, str) else ""
        key = lecturers_key(request.cookies)
        if key and self.page.engine.runs.is_lecturer(key):
            visitor = LECTURER_PREFIX + key
        if not visitor.startswith(LECTURER_PREFIX) or self._is_outdated(visitor):
            visitor = NAMES.give("" if visitor.startswith(LECTURER_PREFIX) else visitor, address_of(request))
        records = self.records(visitor, request)
        # A link is permission to look at a run, whoever's it is.
        linked = self.found(str(request.query_params.get("run") or ""))
        default = next((one.run_id for one in records if one.status.has_weights and self.opens(one)), None)
        run = linked.run_id if linked and self.accept(linked) else self._own(records, remembered) or default
        shown = self.found(run or "")
        choices = run_choices(_with(shown, records))
        updates = [gr.update(choices=self.beside(other, choices)) for other in self._others]
        remark = self._instead(linked, shown) if linked and linked.run_id != run else ""
        return [
            visitor,
            visitor,
            gr.update(choices=choices, value=run),
            run if run == default else "",
            remark,
            *updates,
        ]

    def _own(self, records: Sequence[RunRecord], remembered: Any) -> str | None:
        """Return the visitor's run that trains, or else the last that they looked at, among those that the page opens with."""
        names = remembered if isinstance(remembered, list) else []
        known = [self.found(name) for name in names if isinstance(name, str)]
        offered = [*(record for record in records if record.status.is_active), *filter(None, known)]
        return next((record.run_id for record in offered if self.accept(record) and self.opens(record)), None)

    def _remember(self, run: str | None, remembered: Any, unasked: str) -> list[Any]:
        """Return the runs that the browser remembers, the newest first and one of each kind; not one that a page opened
        with unasked.
        """
        found = self.found(run or "")
        if found is None or found.run_id == unasked:
            return [gr.skip(), ""]
        # Pages differ in the kinds that they can show, so each finds the last one of its own.
        names = remembered if isinstance(remembered, list) else []
        others = [self.found(name) for name in names if isinstance(name, str)]
        return [[found.run_id, *(one.run_id for one in others if one and _sort(one) != _sort(found))], ""]

    def _instead(self, linked: RunRecord, shown: RunRecord | None) -> str:
        """Return why a run that the address names is not the one that is shown."""
        said = Markup("“{}” {}, and this page shows {}").format(linked.name, _does(linked), self.needs)
        return str(said + (Markup(": here is “{}”.").format(shown.name) if shown else Markup(".")))

    def _label(self, run: str | None) -> str:
        """Return the list's label, with the model that was trained: the page's choice of a model does not apply to a run."""
        found = self.found(run or "")
        model = Path(found.spec.model) if found and not found.from_nothing else None
        of = Markup(" of {}").format(model.name if model.is_absolute() else model) if model else ""
        return str(Markup('<span class="run-label">Run{}</span>').format(of))

    def _is_outdated(self, visitor: str) -> bool:
        """Return whether a browser remembers a lecturer's key that is no longer the server's."""
        key = visitor.removeprefix(LECTURER_PREFIX)
        return key != visitor and not self.page.engine.runs.is_lecturer(key)

    def records(self, visitor: str, request: gr.Request | None) -> list[RunRecord]:
        """Return the runs that this page can show."""
        return [
            record
            for record in self.page.engine.runs.list(owner_of(self.page.engine.runs, visitor, request))
            if self.accept(record)
        ]

    def choices_beside(self, shown: RunRecord, owner: str) -> list[tuple[str, str]]:
        """Return the owner's runs and the one that is shown, as a list's choices."""
        return run_choices(_with(shown, [one for one in self.page.engine.runs.list(owner) if self.accept(one)]))

    def on_press(self, button: gr.Button, verb: str, runs: gr.components.Component | None = None) -> Any:
        """Stop, resume or delete when a button is pressed; a refusal goes to the notice.

        runs: a component that names the runs, with commas between them; None for the chosen one. Returns the trigger
        that fires once it is done, and not after a refusal, whose notice would be cleared by what follows.
        """
        done = gr.Textbox("", visible="hidden", label=f"{verb} done")

        def command(visitor: str, named: str, request: gr.Request) -> list[Any]:
            try:
                self._each(verb, named, owner_of(self.page.engine.runs, visitor, request))
            except Exception as error:
                return [self.page.explain(readable(error)), gr.skip()]
            return ["", secrets.token_hex(4)]  # another value each time, since only a change fires the trigger

        button.click(
            command,
            [self.visitor, runs or self.run],
            [self.page.notice, done],
            **QUIET,
        )
        return done.change

    def _each(self, verb: str, named: object, owner: str) -> None:
        """Do something to each run that is named. Stopping a run of one's own that has ended changes nothing."""
        if not isinstance(named, str | None):
            raise BadInputError(f"No run is called {str(named)[:60]!r}: name one, or several with commas between them.")
        for run_id in (named or "").split(","):
            getattr(self.page.engine.runs, verb)(run_id, owner)

    def found(self, run_id: str) -> RunRecord | None:
        """Return a run, or None if there is none of this name."""
        try:
            return self.page.engine.runs.get(run_id)
        except ExplorerError:
            return None

    def publish(self, verb: str) -> None:
        """Publish what `on_press` does for clients, as an endpoint `/<verb>_run` that raises."""

        def command(visitor: str, run: str, request: gr.Request) -> str:
            try:
                self._each(verb, run, owner_of(self.page.engine.runs, visitor, request))
            except Exception as error:
                raise Refusal(error) from None
            return f"{run}: {verb}"

        gr.Button(visible=False).click(
            command,
            inputs_kwargs={"visitor": self.visitor, "run": self.run},
            outputs=[gr.Textbox(visible=False)],
            api_name=f"{verb}_run",
            api_description=f"{verb.capitalize()} a run of your own.",
            queue=False,
        )
