"""The model picker: one choice that follows the visitor from page to page, with downloads if needed."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.charts.words import compact
from explorer.engine.protocol import DownloadProgress, Engine, ModelStatus
from explorer.errors import readable
from explorer.models.catalog import CATALOG, DEFAULT_MODEL, ModelCard

MEMORY_KEY = "bert-explorer-model"

SKILLS = {
    "MLM": "fills masks",
    "NSP": "scores pairs",
    "SOP": "tells sentence order",
    "RTD": "detects replaced tokens",
    "CAUSAL": "continues a text",
}
"""What a model does, by the name of its Capability, in the line below the picker."""


def picker_label(card: ModelCard, on_this_machine: bool) -> str:
    """Return one line of the list: name, family, size, what it can do, and whether it has to be fetched."""
    place = "bundled" if card.bundled else "on this machine" if on_this_machine else "download"
    skills = ", ".join(capability.short for capability in card.capabilities) or "encoder only"
    return f"{card.model_id} · {card.family} · {card.millions:g}M · {skills} · {place}"


def describe(status: ModelStatus) -> str:
    """Return the line below the picker."""
    facts = [status.family or "family known once it is loaded"]
    exact = ""
    if status.parameters:
        about = "" if status.in_memory else "about "
        exact = f"{about}{status.parameters:,.0f} parameters"
        facts.append(f"{about}{compact(status.parameters)} parameters")
    skills = ", ".join(SKILLS[head.name] for head in status.capabilities)
    facts += [skills] if skills else []
    facts += [] if status.on_this_machine else ["to be downloaded"]
    cells = Markup("").join(Markup("<span>{}</span>").format(fact) for fact in facts)
    return str(Markup('<div class="model-card" title="{}">{}</div>').format(exact, cells))


class Picker:
    """The choice of a model on one page: lay out its parts where they belong, then wire them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        # A fixed secret: Gradio's own is new with each start, and what browsers keep could not be read.
        self.memory = gr.BrowserState(DEFAULT_MODEL, storage_key=MEMORY_KEY, secret=MEMORY_KEY)
        self.model = gr.Dropdown(
            [(picker_label(card, card.bundled), card.model_id) for card in CATALOG],
            value=DEFAULT_MODEL,
            label="Model: pick one, or type a hub id or a folder",
            show_label=False,
            container=False,
            allow_custom_value=True,
            min_width=300,
            elem_id="model-picker",
        )

    def lay_out_card(self) -> None:
        """Lay out the line that describes the chosen model."""
        self.card = gr.HTML(describe(self.engine.status(DEFAULT_MODEL)))

    def lay_out_note(self) -> None:
        """Lay out progress and failures of a download, and the button that stops it."""
        self.note = gr.HTML("", elem_classes=["picker-note"])
        self.stop = gr.Button("Stop the download", visible=False, variant="stop", size="sm")

    def hide(self) -> None:
        """Hide the picker, on a page that asks no model of the visitor's choice; it still knows it, for the pages that do."""
        self.model.visible = self.card.visible = "hidden"

    def wire(self, notice: gr.HTML) -> tuple[Any, ...]:
        """Wire the events that remember, download and stop. Returns the triggers after which another model is in place."""
        private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        parts = [self.model, self.card, self.note, self.memory]
        gr.on(
            [self.model.input, self.model.select],
            fn=None,
            js="() => { window.explorerChose = true; return []; }",
            queue=False,
            **private,
        )
        chosen = self.model.input(
            self.choose, [self.model], [*parts, self.stop], concurrency_limit=8, trigger_mode="multiple", **private
        )
        accepted = notice.select(self.accept, None, parts, queue=False, **private)
        stopped = self.stop.click(
            lambda: [DEFAULT_MODEL, describe(self.engine.status(DEFAULT_MODEL)), "", gr.update(visible=False)],
            None,
            [self.model, self.card, self.note, self.stop],
            cancels=[chosen],
            **private,
        )
        # A line of progress that was under way when Stop was pressed can arrive after the press was answered.
        stopped = stopped.then(lambda: "", None, self.note, queue=False, **private)
        return chosen.then, accepted.then, stopped.then

    def at_hand(self, model: str) -> bool:
        """Return whether a model is on this machine, so that an address may name it: an address fetches none."""
        return self.engine.status(model).on_this_machine

    def restore(self, remembered: Any) -> dict[str, Any]:
        """Restore the remembered model if it is still here; the list learns what has been downloaded since."""
        statuses = {card.model_id: self.engine.status(card.model_id) for card in CATALOG}
        choices = [(picker_label(card, statuses[card.model_id].on_this_machine), card.model_id) for card in CATALOG]
        wanted = remembered if isinstance(remembered, str) and remembered else DEFAULT_MODEL
        status = self.engine.status(wanted)
        if not status.on_this_machine:
            status = statuses[DEFAULT_MODEL]
        return {"choices": choices, "model": status.model_id, "card": describe(status)}

    def choose(self, wanted: Any) -> Iterator[list[Any]]:
        """Make the chosen model ready, with progress; if that fails say why and go on with the bundled one."""
        wanted = str(wanted or DEFAULT_MODEL).strip()
        began = monotonic()
        try:
            for progress in self.engine.prepare(wanted):
                note = _progress_note(wanted, progress, monotonic() - began)
                yield [gr.skip(), gr.skip(), note, gr.skip(), gr.update(visible=progress.total != 1)]
        except Exception as error:
            note = str(Markup('<div class="notice" role="alert"><p>{}</p></div>').format(str(readable(error))))
            fallen_back = describe(self.engine.status(DEFAULT_MODEL))
            yield [DEFAULT_MODEL, fallen_back, note, DEFAULT_MODEL, gr.update(visible=False)]
            return
        yield [wanted, describe(self.engine.status(wanted)), "", wanted, gr.update(visible=False)]

    def accept(self, event: gr.EventData) -> list[Any]:
        """Take the bundled model that a notice offers."""
        offered = str(event.model)
        return [offered, describe(self.engine.status(offered)), "", offered]


def _progress_note(model_id: str, progress: DownloadProgress, seconds: float) -> str:
    """Return a bar with how much of how much, and the time left."""
    share = progress.done / progress.total if progress.total else 0.0
    left = f", about {seconds * (1 - share) / share:.0f} s left" if 0.02 < share < 1 else ""
    size = f"{progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB" if progress.total > 1 else "reading it"
    size = size if progress.total else "asking the hub"
    return str(
        Markup(
            '<div class="notice" role="status"><p>{}: {}{}</p><progress value="{:.4f}" max="1"></progress></div>'
        ).format(model_id, size, left, share)
    )
