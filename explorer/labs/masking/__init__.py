"""Masking: what a masked language model predicts, and how it was taught to."""

from markupsafe import Markup

from explorer.action import Action, Lab
from explorer.engine.protocol import Job
from explorer.labs.masking import corruption_figures, figures
from explorer.labs.masking.schema import CorruptParams, FillParams, PatternsParams, SharesParams, require_masks
from explorer.models.families import Capability
from explorer.plain import Asked, plain_script

_COMPUTE = "explorer.labs.masking.compute"


def _hidden(asked: Asked) -> dict[str, object]:
    """What words and characters name, as the positions that they turned out to be."""
    return {"HIDE": tuple(mask.position for mask in asked.result.masks if mask.hidden is not None)}


FILL_MASKS = Action(
    "fill_masks",
    Job(f"{_COMPUTE}:fill_masks", Capability.MLM),
    FillParams,
    figures.fill_table,
    require_masks,
    plain=plain_script("fill_masks", _hidden),
)
CORRUPT = Action(
    "corrupt",
    Job(f"{_COMPUTE}:corrupt_text", Capability.MLM),
    CorruptParams,
    corruption_figures.corrupt_table,
    plain=plain_script("corrupt"),
)
CORRUPTION_SHARES = Action(
    "count_fates",
    Job(f"{_COMPUTE}:corruption_shares", Capability.MLM),
    SharesParams,
    corruption_figures.shares_table,
    plain=plain_script("count_fates"),
)
MASKING_PATTERNS = Action(
    "draw_epochs",
    Job(f"{_COMPUTE}:masking_patterns", Capability.MLM),
    PatternsParams,
    corruption_figures.patterns_table,
    plain=plain_script("draw_epochs"),
)

LAB = Lab(
    slug="masking",
    title="Masking",
    chapter="Pretrain",
    question="What would BERT put in the blank?",
    teaser="Hide a word and watch the model guess it; then see how pretraining hides words by the million.",
    needs=Capability.MLM,
    actions=(FILL_MASKS, CORRUPT, CORRUPTION_SHARES, MASKING_PATTERNS),
    tab="explorer.labs.masking.tab:build",
    without_head=Markup(
        "<p>GPT-2 reads from the left alone and continues a text, so it has nothing to do with a blank in the middle; "
        '<a href="context">the logit lens</a> shows what it expects next. ELECTRA\'s discriminator tells tokens that were '
        "replaced.</p>"
    ),
)
