"""What the scripts without the package are told about heads."""

from __future__ import annotations

from explorer.labs.attention.switch_schema import AblateResult, EachHeadResult
from explorer.labs.attention.views_schema import QueryKeyResult
from explorer.labs.plain import CLASSES_OF, Asked, architecture_of, as_read, plain_script
from explorer.text import up_to_blank


def ablate_heads(asked: Asked) -> str:
    """The heads that were switched off, ALBERT's at every depth where so chosen."""
    result: AblateResult = asked.result
    return _script("ablate_heads", asked, result.question, 1 if result.shared else result.layers, {"HEADS": result.off})


def each_head(asked: Asked) -> str:
    """Every head in turn."""
    result: EachHeadResult = asked.result
    return _script("ablate_each_head", asked, result.question, 1 if result.shared else len(result.after), {})


def _script(name: str, asked: Asked, question: str, layers: int, values: dict[str, object]) -> str:
    """None for a question that the script does not put."""
    if question not in CLASSES_OF:
        return ""
    layout = architecture_of(asked).layers
    outputs = tuple(layout.name(layer, layout.modules["output"]) for layer in range(layers))
    texts = continued(asked.params.text, asked.params.sentence_b) if question == "continue" else {}
    values = {**values, **texts, "QUESTION": question, "CLASSES": CLASSES_OF[question], "OUTPUTS": outputs}
    return plain_script(name, lambda _: values)(asked)


def continued(text: str, second: str) -> dict[str, str]:
    """What a model that continues a text is given of a text with a blank."""
    return dict(zip(("TEXT", "SENTENCE_B"), up_to_blank(as_read(text), as_read(second)), strict=True))


def query_key(asked: Asked) -> str:
    """None where q · k of two linear maps is not all there is: rotated, relative, fused or hidden positions, or shared layers."""
    result: QueryKeyResult = asked.result
    layout = architecture_of(asked).layers
    query, key = layout.modules["query"], layout.modules["key"]
    hidden = any(seen.hidden for seen in result.keys)
    if not result.exact or hidden or query == key or not layout.path.endswith(".*"):
        return ""
    names = {"QUERY": query, "KEY": key}
    inside = {name: layout.name(result.layer, path).removeprefix(f"{layout.body}.") for name, path in names.items()}
    return plain_script("query_key", lambda _: inside)(asked)
