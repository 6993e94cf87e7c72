"""What the scripts without the package are told about words in sentences and about the logit lens."""

from __future__ import annotations

from explorer.labs.context.examples import PLAIN
from explorer.labs.context.lens import LensResult
from explorer.models.families import Capability
from explorer.plain import Asked, architecture_of, as_read, place_of, plain_script
from explorer.text import up_to_blank


def sentences(asked: Asked) -> dict[str, object]:
    """Return the visitor's sentences without their senses, and those of the app, which the baseline draws from too."""
    return {
        "SENTENCES": tuple(line.text for line in asked.params.lines),
        "OTHERS": PLAIN[: asked.result.plain_sentences],
    }


def lens(asked: Asked) -> str:
    """Return the script for the task of the model's head; "" if the lens read nothing, or if it detects replaced
    tokens.
    """
    result: LensResult = asked.result
    if result.problem or result.asked == "replaced":
        return ""
    if result.asked == "mask":
        return plain_script("logit_lens")(asked)
    before, _ = up_to_blank(as_read(asked.params.text))
    return plain_script("logit_lens_causal", lambda asked: {"TEXT": before})(asked)


def carried(asked: Asked) -> str:
    """Return the script that carries states over by hooks of its own."""
    result = asked.result
    architecture = architecture_of(asked)
    if architecture is None:
        return ""
    layers = architecture.layers
    whole = f"{layers.body}.{layers.path}"
    role = {"attention": "output", "ffn": "ffn_out"}.get(result.part)
    given = {
        "PAIR": result.pair,
        "MODULE": f"{whole}.{layers.modules[role]}" if role else whole,
        "GIVEN": role is None,
        "CAUSAL": Capability.MLM not in architecture.heads,
    }
    return plain_script("patch_activations", lambda asked: given)(asked)


probed = plain_script(
    "probe_layers",
    lambda asked: {"MODELS": {name: place_of(name) for name in asked.params.models}},
    "torch transformers scikit-learn",
)
