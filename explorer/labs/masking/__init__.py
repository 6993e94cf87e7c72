"""Masking: what a masked language model predicts, and how it was taught to."""

from markupsafe import Markup

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.masking import corrupt_figures as corruption_figures
from explorer.labs.masking import fill_figures as figures
from explorer.labs.masking import minimal as minimal_figures
from explorer.labs.masking import rate_figures, score_figures
from explorer.labs.masking import several as several_figures
from explorer.labs.masking.minimal import PAIRS, MinimalPairsParams, MinimalPairsResult
from explorer.labs.masking.rate import COMPARED, RATES, RatesParams, RatesResult, texts_of
from explorer.labs.masking.schema import CorruptParams, FillParams, PatternsParams, SharesParams, require_masks
from explorer.labs.masking.score import ScoreParams
from explorer.labs.masking.several import SeveralParams
from explorer.labs.masking.swap import SWAP_WORD
from explorer.maths.schemes import SCHEMES
from explorer.models.catalog import bundled_with
from explorer.models.families import Capability
from explorer.plain import Asked, Plain, place_of, plain_script
from explorer.worked import Opening

_COMPUTE = "explorer.labs.masking.jobs"
_SCORE = "explorer.labs.masking.score_jobs"


def _hidden(asked: Asked) -> dict[str, object]:
    """Return what words and characters name, as the positions that they turned out to be."""
    return {"HIDE": tuple(mask.position for mask in asked.result.masks if mask.hidden is not None)}


def _pairs(asked: Asked) -> dict[str, object]:
    """Return the bundled pairs without their labels."""
    return {"PAIRS": tuple((pair.kind, pair.better, pair.worse) for pair in PAIRS), "CAUSAL": asked.result.causal}


def _rates(asked: Asked) -> dict[str, object]:
    """Return the models' places, and the rows that were read."""
    models = tuple(map(place_of, asked.params.models))
    return {"MODELS": models, "TEXTS": texts_of(asked.params.text), "RATES": RATES}


def _drawing(name: str) -> Plain:
    """Return the function that makes a script that draws; it returns "" for a scheme that the scripts don't know."""
    script = plain_script(name)
    return lambda asked: script(asked) if SCHEMES[asked.params.scheme].in_scripts else ""


FILL_MASKS = Action(
    Job(f"{_COMPUTE}:fill_masks", Capability.MLM, together=f"{_COMPUTE}:fill_masks_together"),
    FillParams,
    figures.fill_table,
    require_masks,
    plain=plain_script("fill_masks", _hidden),
)
CORRUPT = Action(
    Job(f"{_COMPUTE}:corrupt_text", Capability.MLM),
    CorruptParams,
    corruption_figures.corrupt_table,
    plain=_drawing("corrupt"),
    called="corrupt",
)
CORRUPTION_SHARES = Action(
    Job(f"{_COMPUTE}:corruption_shares", Capability.MLM),
    SharesParams,
    corruption_figures.shares_table,
    plain=_drawing("count_fates"),
    called="count_fates",
)
MASKING_PATTERNS = Action(
    Job(f"{_COMPUTE}:masking_patterns", Capability.MLM),
    PatternsParams,
    corruption_figures.patterns_table,
    plain=_drawing("draw_epochs"),
    called="draw_epochs",
)
SCORE_SENTENCES = Action(
    Job(f"{_SCORE}:score_sentences", on="resources"),
    ScoreParams,
    score_figures.score_table,
    plain=plain_script("score_sentences", lambda asked: {"CAUSAL": asked.result.own.causal}),
)
_SCORED = (*bundled_with(Capability.MLM), *bundled_with(Capability.CAUSAL))
"""The bundled models that can score a sentence, the page's first one before the others."""


def _compared() -> list[tuple[str, ...]]:
    """Return what the tab on rates opens with: the page's model takes the first place, as the page puts it there."""
    fill = bundled_with(Capability.MLM)
    return [COMPARED, *((model, *(other for other in COMPARED[1:] if other != model)) for model in fill[1:])]


SCORE_MINIMAL_PAIRS = LiveAction(
    Job("explorer.labs.masking.minimal:score_minimal_pairs", on="resources"),
    MinimalPairsParams,
    minimal_figures.minimal_pairs_table,
    plain=plain_script("score_minimal_pairs", _pairs),
    openings=tuple(Opening(MinimalPairsParams(model), MinimalPairsResult) for model in _SCORED),
)
FILL_SEVERAL = Action(
    Job("explorer.labs.masking.several_jobs:fill_several", Capability.MLM),
    SeveralParams,
    several_figures.several_table,
    plain=plain_script("fill_several"),
)
MASKING_RATES = LiveAction(
    Job("explorer.labs.masking.rate_jobs:masking_rates", on="resources"),
    RatesParams,
    rate_figures.rates_table,
    plain=plain_script("masking_rates", _rates),
    openings=tuple(Opening(RatesParams(models), RatesResult) for models in _compared()),
)

LAB = Lab(
    slug="masking",
    title="Masking",
    chapter="Learn",
    question="What would BERT put in the blank?",
    teaser="Hide a word and watch the model guess it; then see how pretraining hides words by the million.",
    needs=Capability.MLM,
    reads=Reads("text", "hidden"),
    actions=(
        FILL_MASKS,
        CORRUPT,
        CORRUPTION_SHARES,
        MASKING_PATTERNS,
        SCORE_SENTENCES,
        SCORE_MINIMAL_PAIRS,
        FILL_SEVERAL,
        SWAP_WORD,
        MASKING_RATES,
    ),
    tab="explorer.labs.masking.page:build",
    without_head={
        "": Markup(
            '<p><a href="generation">Generation</a> lets GPT-2 continue a text, and <a href="context">Context</a> shows, '
            "by the logit lens, what it expects next. ELECTRA's discriminator tells tokens that were replaced.</p>"
        )
    },
)
