"""The attribution page: a model's own prediction, and a fine-tuned run's."""

from __future__ import annotations

import gradio as gr

from explorer.labs.attribution.model_page import build_model
from explorer.labs.attribution.run_page import build_run
from explorer.ui.kit import why
from explorer.ui.page import Page

WHY = r"""
A network's answer is a function $f(x)$ of its input embeddings. Each method says in its own way what one token $i$ adds. Here
$f = \ln \frac{p}{1-p}$, the **log-odds** of the answer: its logit against all others, so that it does not saturate as $p$ does.

* **Integrated gradients** walk from a baseline $x'$, which says nothing, to the text:
 $\mathrm{IG}_i = (x_i - x'_i) \int_0^1 \frac{\partial f(x' + \alpha (x - x'))}{\partial x_i} d\alpha$. They are *complete*:
 $\sum_i \mathrm{IG}_i = f(x) - f(x')$. The **delta** is by how much the sum over finitely many steps misses that; steps are
 raised (20, 50, 100, 200, 400) until it is within 2%. (Sundararajan et al. 2017)
* **Gradient × input** is $x_i \cdot \partial f / \partial x_i$ at the text alone: one backward pass, no baseline, no
 completeness (Shrikumar et al. 2016). **Saliency** is $\lVert \partial f / \partial x_i \rVert_2$ (Simonyan et al. 2014).
* **Occlusion** replaces one token, or all of a word's, by the baseline and takes how far $f$ falls (Zeiler and Fergus 2014).
* **Layer conductance** follows the same walk through a hidden layer $h$:
 $\sum_d \int_0^1 \frac{\partial f}{\partial h_{i,d}} \frac{\partial h_{i,d}}{\partial \alpha} d\alpha$ for the state at
 position $i$. Every layer shares out the same $f(x) - f(x')$. (Dhamdhere et al. 2019)
* **Attention rollout** multiplies $\tfrac{1}{2}(\bar{A}_l + I)$ over the layers, with $\bar{A}_l$ the heads' mean attention;
 shown is the row of the asked position, [CLS] for a whole text. (Abnar and Zuidema 2020)

The **baseline** changes word embeddings only; positions and segments stay, and so do special tokens, [CLS], [SEP] and the
[MASK] that is asked about, since the question would go with them. Another baseline is another question: compare them. On the
way to the zero vector $\alpha x$ keeps its direction, and a model that adds nothing to it before its first normalisation
$x / \sqrt{\overline{x^2} + \epsilon}$ (DeBERTa, ModernBERT, EuroBERT) sees no difference until
$\alpha \approx \sqrt{\epsilon} / \mathrm{rms}(x)$: there sums of finitely many steps miss by most.
(Gradient × input, saliency and occlusion are computed with captum, Kokhlikyan et al. 2020; integrated gradients agree with it.)
"""


def build(page: Page) -> None:
    """Lay out two tabs: the model's own heads, and a fine-tuned run."""
    with gr.Tabs():
        with gr.Tab("A model's prediction", id="model"):
            build_model(page, _why)
        with gr.Tab("A fine-tuned run", id="run") as tuned:
            build_run(page, tuned, _why)


def _why() -> None:
    why("the formulas and the papers", WHY)
