"""Memory: what it is made of, on the chosen model and, by the same formula, for GPT-3."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import memory as figures
from explorer.labs.finetune.memory import MEMORY, MemoryParams
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tuning.methods import METHODS
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import View, inputs_column, outputs_column, sentence_place, slim, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

WHY = r"""
Training a number with Adam takes four: the number, its gradient, and the means of the gradient and of its square, $m$ and $v$
(Kingma and Ba 2015). In float32 that is 16 bytes. A frozen number is a weight and no more: 4 bytes, or 2 in float16. So LoRA
saves gradients and moments of all that it freezes, and not the weights; and of the **activations**, what each layer keeps of a
batch for the backward pass, it saves a part only, since gradients still flow through every layer: they grow with the batch and
the length of the texts, and where batches are large enough they are the largest part.

Here the model's weights are held once for all runs. Full fine-tuning therefore holds a second copy, the one that it trains; a
server of its own would not.

GPT-3's column uses its published sizes: 96 layers, $d = 12{,}288$ (Brown et al. 2020, Table 2.1), 175,255.8M parameters (Hu et
al. 2021, Table 4), and LoRA's $96 \cdot 2 \cdot 2 d r$ numbers at $r = 4$ on $W_q$ and $W_v$. Mixed precision takes 16 bytes a
trained number too: weight and gradient in float16, and in float32 a copy of the weight and two moments (Rajbhandari et al. 2020,
ZeRO, section 3.1). The paper's figures are those of its section 4.2.
"""


def build_memory(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab: the settings that memory depends on; the parts as bars; GPT-3's figures below."""
    with slim():
        with inputs_column():
            named = [(method.title, method.slug) for method in METHODS]
            inputs = {
                "method": control(MemoryParams, "method", choices=named, value="houlsby", filterable=False),
                "rank": control(MemoryParams, "rank"),
                "batch_size": control(MemoryParams, "batch_size"),
                "task": control(MemoryParams, "task", choices=choices(settings())),
            }
        with outputs_column():
            view = View("memory", "memory", figures.memory_sentence, figures.memory_figure, notes=figures.memory_notes)
    gr.HTML("<h2>The same formula for GPT-3</h2>")
    sentence_place("gpt3-said", str(figures.gpt3_sentence()))
    table, notes = rich_text(elem_classes=["wide"]), rich_text(elem_id="gpt3-notes")
    why("the formula and its sources", WHY)
    shown = [*view, (table, figures.gpt3_view), (notes, figures.gpt3_notes)]
    order = {
        "model": page.model,
        **{name: inputs[name] for name in ("task", "method", "rank", "batch_size")},
        "run": picker.run,
    }
    memory = Connection(page, MEMORY, order, shown)
    memory.on(*picker.at_opening(tab), *(component.change for component in inputs.values()))
