"""The chosen task's card, folded below the choice; its title says what is asked."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import card as figures
from explorer.labs.finetune.card import CARD, TaskCard
from explorer.ui.components import rich_text
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds


def build_card(page: Page, task: gr.Dropdown) -> None:
    """Lay out the card, which is made anew whenever another task is chosen, uploaded ones too."""
    with gr.Accordion("The task", open=False, elem_id="task-card") as fold:
        card = rich_text(elem_classes=["wide"], elem_id="task-card-said")
        rows = rich_text(elem_classes=["wide"], elem_id="task-card-rows")
        panel = folds(CARD, "the task's first rows")

    def title(result: TaskCard) -> dict[str, object]:
        return gr.update(label=figures.card_title(result))

    shown = [(card, figures.card_view), (rows, figures.rows_view)]
    described = Connection(page, CARD, {"task": task}, shown, panel, steered=[(fold, title)])
    described.on(page.opened, task.change)
