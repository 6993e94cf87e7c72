"""What the script without the package is told: a family's class, its sizes, and what its parts are called; where models are."""

from __future__ import annotations

from explorer.plain import Asked, place_of, plain_script

_NO_SIZES = ("architectures", "dtype", "id2label", "label2id", "transformers_version")


def count_parameters(asked: Asked) -> str:
    """Make the script.

    Return "" for a family whose parts are not written down, and for layers that share a part: transformers makes none.
    """
    from explorer.labs.models.jobs import parts_again, resized  # brings torch, which is here by now

    outline = resized(asked.params)
    if parts_again(outline, asked.params.shared):
        return ""
    differs = outline.config.to_diff_dict()
    values = {
        "MODEL_CLASS": outline.architecture.model_class,
        "CONFIG": {name: value for name, value in differs.items() if name not in _NO_SIZES},
        "PARTS": {part.name: part.prefixes for part in outline.parts or ()},
    }
    return plain_script("count_parameters", lambda _: values)(asked) if outline.parts else ""


layer_movement = plain_script(
    "layer_movement", lambda asked: {"MODELS": tuple(place_of(name) for name in asked.params.models)}
)
