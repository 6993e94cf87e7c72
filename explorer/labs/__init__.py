"""The labs, in the order of the navigation."""

from importlib import import_module

from explorer.action import CHAPTERS, Action, Lab, LiveAction

LABS: tuple[Lab, ...] = tuple(
    import_module(f"{__name__}.{name}").LAB
    for name in (
        "inputs",
        "directions",
        "masking",
        "pairs",
        "pretrain",
        "replaced",
        "models",
        "agrees",
        "wayup",
        "attention",
        "context",
        "attribution",
        "finetune",
        "delta",
        "generation",
        "distillation",
        "pruning",
    )
)
"""To add a lab, add its folder and its name here."""

__all__ = ["CHAPTERS", "LABS", "Action", "Lab", "LiveAction"]
