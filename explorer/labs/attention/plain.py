"""What the scripts without the package are told about heads."""

from __future__ import annotations

from explorer.labs.attention.switch import AblateResult, EachHeadResult
from explorer.labs.attention.views import QueryKeyResult
from explorer.models.families import Layers
from explorer.plain import CLASSES_OF, Asked, architecture_of, as_read, plain_script, run_values
from explorer.text import up_to_blank


def ablate_heads(asked: Asked) -> str:
    """Make the script without these heads; ALBERT's are off at every depth if that was chosen."""
    return _script("ablate_heads", asked, {"HEADS": asked.result.off})


def ablate_run_heads(asked: Asked) -> str:
    """Make the script for a fine-tuned classifier; "" for a method that the script cannot put together."""
    record, result = asked.engine.runs.get(asked.params.run), asked.result
    values = run_values(asked, record)
    family = architecture_of(asked, record.spec.model)
    if not values or family is None:
        return ""
    values |= {"HEADS": result.off, "OUTPUTS": _outputs(family.layers, result)}
    return plain_script("ablate_run_heads", lambda _: values, "torch transformers peft")(asked)


def each_head(asked: Asked) -> str:
    """Make the script that switches off every head in turn."""
    return _script("ablate_each_head", asked, {})


def _script(name: str, asked: Asked, values: dict[str, object]) -> str:
    """Fill in a script; "" for a question that it does not put."""
    result: AblateResult | EachHeadResult = asked.result
    family = architecture_of(asked)
    if result.question not in CLASSES_OF or family is None:
        return ""
    outputs = _outputs(family.layers, result)
    texts = continued(asked.params.text, asked.params.sentence_b) if result.question == "continue" else {}
    values = {
        **values,
        **texts,
        "QUESTION": result.question,
        "CLASSES": CLASSES_OF[result.question],
        "OUTPUTS": outputs,
    }
    return plain_script(name, lambda _: values)(asked)


def continued(text: str, second: str) -> dict[str, str]:
    """Return the values by which a script reads a text up to its blank, as a model that continues a text does."""
    return dict(zip(("TEXT", "SENTENCE_B"), up_to_blank(as_read(text), as_read(second)), strict=True))


def _outputs(layout: Layers, result: AblateResult | EachHeadResult) -> tuple[str, ...]:
    """Name the linear map behind each layer's heads, by which a script finds it; one if a layer serves at every depth."""
    depth = result.layers if isinstance(result, AblateResult) else len(result.after)
    return tuple(layout.name(layer, layout.modules["output"]) for layer in range(1 if result.shared else depth))


def attention_view(asked: Asked) -> str:
    """Make the script, with the layers in view and the threshold from which on weights are drawn."""
    values = {"LAYERS": asked.result.layers, "LEAST": asked.result.kept_from}
    return plain_script("attention_view", lambda _: values)(asked)


def query_key(asked: Asked) -> str:
    """Make the script; "" if the scores are more than q · k of two linear maps.

    They are more for rotated, relative, fused or hidden positions, and for shared layers.
    """
    result: QueryKeyResult = asked.result
    family = architecture_of(asked)
    if family is None:
        return ""
    layout = family.layers
    query, key = layout.modules["query"], layout.modules["key"]
    hidden = any(seen.hidden for seen in result.keys)
    # Equal names mean one fused matrix; a path without .* means layers that are shared.
    if not result.exact or hidden or query == key or not layout.path.endswith(".*"):
        return ""
    names = {"QUERY": query, "KEY": key}
    # The script starts at the body.
    inside = {name: layout.name(result.layer, path).removeprefix(f"{layout.body}.") for name, path in names.items()}
    return plain_script("query_key", lambda _: inside)(asked)
