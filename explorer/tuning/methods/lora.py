"""LoRA and its variants: rsLoRA, DoRA, PiSSA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from explorer.errors import BadInputError
from explorer.models.families import Layers
from explorer.tuning.methods.method import Method, last_layers

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec

PISSA = "pissa_niter_16"
"""peft's name for the first r singular directions by 16 subspace iterations, which PiSSA's paper finds as good as the
exact ones.
"""


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Put low-rank updates on the target matrices.

    A is drawn uniformly from ±1/sqrt(k) (Kaiming-uniform with a = sqrt(5), as in the authors' code; the paper says N(0,
    s²)) and B is zero, so that ΔW = 0 at the start. PiSSA takes both from W's singular vectors and leaves W less their
    product.

    Raises BadInputError if the rank exceeds the smaller side of a target.
    """
    from peft import LoraConfig, get_peft_model
    from peft.tuners.lora import LoraLayer

    from explorer.tuning.methods.by_peft import ADAPTER, common
    from explorer.tuning.seeded import SeededDropout

    targets = layers.matrices(spec.targets)
    pattern = layers.pattern(targets.values(), last_layers(fork, spec) or ())
    _check_rank(fork, spec, layers, targets)
    config = LoraConfig(
        r=spec.rank,
        lora_alpha=spec.alpha,  # type: ignore[arg-type]  # any number works
        lora_dropout=spec.dropout,
        target_modules=pattern,
        use_rslora=spec.variant == "rslora",
        use_dora=spec.variant == "dora",
        init_lora_weights=PISSA if spec.variant == "pissa" else True,  # type: ignore[arg-type]
        fan_in_fan_out=layers.transposed,
        **common(fork),
    )
    model: nn.Module = get_peft_model(fork, config)
    for module in model.modules():
        if isinstance(module, LoraLayer) and spec.dropout:
            # peft's own dropout draws from torch's global generator, which runs in other threads share.
            module.lora_dropout[ADAPTER] = SeededDropout(spec.dropout, spec.seed)
    return model


def _check_rank(fork: PreTrainedModel, spec: RunSpec, layers: Layers, targets: dict[str, str]) -> None:
    for role, path in targets.items():
        width = min(fork.get_submodule(layers.name(0, path)).get_parameter("weight").shape)
        if spec.rank > width:
            raise BadInputError(
                f"rank is {spec.rank}, and the smaller side of the {role} matrix is {width}. Take {width} or less; a "
                "low-rank update pays from about a tenth of it downwards."
            )


def _is_pissa(spec: RunSpec) -> bool:
    return spec.variant == "pissa"


def _notes(spec: RunSpec, layers: Layers) -> Iterator[str]:
    if spec.variant == "pissa":
        yield "PiSSA takes its factors out of the matrices, so the run keeps copies of those it adapts."
    if spec.variant == "dora":
        yield "DoRA measures the rows of W + BA at every step, which takes about as long again as LoRA's own products."


METHOD = Method(
    "lora",
    "LoRA",
    "The update of each chosen matrix is a product of two thin ones, B A (not A B, as some notes have it), and only these "
    "are trained. B starts at zeros and A at random numbers, Gaussian in the paper and uniform in peft, which is used here, "
    "so the update starts at zero; it can be added to W afterwards, so that the adapted model is as quick as the original. "
    "Variants: rsLoRA scales by alpha over the root of r, DoRA trains the length of each row apart from its direction, and "
    "PiSSA starts from W's largest singular directions instead of zero.",
    r"h = W x + \frac{\alpha}{r} B A x,\quad A \in \mathbb{R}^{r \times k},\ B \in \mathbb{R}^{d \times r}",
    "Hu et al. 2021, LoRA; Kalajdzievski 2023, rsLoRA; Liu et al. 2024, DoRA; Meng et al. 2024, PiSSA",
    ("rank", "alpha", "dropout", "targets", "variant", "last_layers"),
    1e-3,
    build,
    changes_matrices=True,
    low_rank=True,
    template=lambda spec, layers: "pissa" if _is_pissa(spec) else "peft",
    starts_elsewhere=_is_pissa,
    notes=_notes,
)
