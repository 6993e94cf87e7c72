"""The folded part under every figure: its table, with CSV, and Copy as Python."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.action import Action, LiveAction
from explorer.errors import readable
from explorer.plain import Asked
from explorer.tables import Table, short
from explorer.ui.page import Page

NO_ROWS = "<p class='caption' role='status'>There are no rows to save yet: they come with the figure.</p>"

NO_PLAIN_SCRIPT = "# What is asked here has no such script; the one above computes it.\n"

Framed = dict[str, Any]
"""A table as Gradio's Dataframe takes it."""


def frame(table: Table) -> Framed:
    """Return a table for a client: plain values."""
    return {"headers": list(table.columns), "data": [list(row) for row in table.rows]}


def page_frame(table: Table) -> Framed:
    """Return a table for a page: four significant digits are shown, and all of them are in what is saved."""
    return frame(table) | {"metadata": {"display_value": [[short(cell) for cell in row] for row in table.rows]}}


@dataclass(frozen=True)
class Whole:
    """The components by which all rows of a table are saved if the page shows a part of it.

    asked: the inputs behind the figure, as an event was given them; it is an output of the page's events. rows: the
    whole table on its way through the browser.
    """

    asked: gr.JSON
    rows: gr.JSON
    said: gr.HTML
    download: gr.Button
    name: str

    def comes_from(self, page: Page, answer: Callable[[dict[str, Any]], Awaitable[Framed]]) -> None:
        """Compute the table anew when a visitor asks for it: it is too long to be sent with every figure."""

        async def fetch(asked: dict[str, Any] | None) -> list[Any]:
            try:
                return ["", await answer(asked) if asked else {"headers": [], "data": []}]
            except Exception as error:
                return [page.explain(readable(error)), None]

        private: dict[str, Any] = {"api_visibility": "private", "queue": False}
        fetched = self.download.click(
            fetch, [self.asked], [page.notice, self.rows], concurrency_limit=None, show_progress="hidden", **private
        )
        script = f"(table) => [({_save_csv(self.name)})(table), null]"  # null: the browser need not keep the rows
        fetched.then(fn=None, js=script, inputs=[self.rows], outputs=[self.said, self.rows], **private)


@dataclass(frozen=True)
class Panel:
    """The components of a folded part. plain: the script without this package. whole: for saving all rows, if the
    page's table is cut. scripts: the fold that the scripts are in, for a page that has one more.
    """

    script: gr.Code
    table: gr.Dataframe
    plain: gr.Code | None = None
    whole: Whole | None = None
    scripts: gr.Accordion | None = None

    @property
    def outputs(self) -> list[gr.components.Component]:
        """The components that an action fills, the table last."""
        return [*([self.plain] if self.plain else []), self.script, self.table]

    def filled(self, action: Action | LiveAction, asked: Asked, script: str, table: Framed) -> list[Any]:
        """Return the outputs' values."""
        scripts = [script]
        if self.plain is not None:
            scripts.insert(0, (action.plain(asked) if action.plain else "") or NO_PLAIN_SCRIPT)
        return [*scripts, table]


def folds(of_action: Action | LiveAction | str, figure: str = "", shortened: bool = False) -> Panel:
    """Build the folded table and scripts of one figure, of an action or a name, which names the CSV file too.

    figure: names the figure if the page has several. shortened: the page shows a part of a long table, the CSV all of
    it.
    """
    name = of_action if isinstance(of_action, str) else of_action.name
    has_plain = not isinstance(of_action, str) and of_action.plain is not None
    of = f": {figure}" if figure else ""
    whole = None
    with gr.Row(elem_classes=["folds"]):
        with gr.Accordion(f"Data{of}", open=False):
            table = gr.Dataframe(
                show_label=False, interactive=False, buttons=["copy", "fullscreen"], max_height=320, wrap=True
            )
            if shortened:
                gr.HTML(
                    '<p class="caption">Of a long table only the largest values stand here; the CSV has every row.</p>'
                )
            download = gr.Button("Download CSV", size="sm")
            said = gr.HTML("", elem_classes=["csv-said"])
            if shortened:
                whole = Whole(gr.JSON(visible=False), gr.JSON(visible=False), said, download, name)
            else:
                download.click(fn=None, inputs=[table], outputs=[said], js=_save_csv(name), api_visibility="private")
        with gr.Accordion(f"Copy as Python{of}", open=False) as scripts:
            script = code("With this app's package", f"script-{name}")
            plain = code("Without it, from the model itself", f"plain-{name}") if has_plain else None
    return Panel(script, table, plain, whole, scripts)


def code(label: str, elem_id: str) -> gr.Code:
    """Return a script to copy."""
    return gr.Code(language="python", label=label, interactive=False, max_lines=24, elem_id=elem_id)


def _save_csv(name: str) -> str:
    return _CSV % (NO_ROWS, f"{name}.csv")


_CSV = """(table) => {
  if (!table) return "";
  if (!table.data?.length) return "%s";
  window.explorerSaving.save("%s", window.explorerSaving.csv(table.headers, table.data), "text/csv");
  return "";
}"""
