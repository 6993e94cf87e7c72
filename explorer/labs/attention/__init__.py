"""Attention: which token looks at which, in every head, and what is lost when heads are switched off."""

from explorer.action import Action, Lab, Reads
from explorer.engine.protocol import Job
from explorer.labs.attention import head_figures as figures
from explorer.labs.attention import plain
from explorer.labs.attention import switch as switch_figures
from explorer.labs.attention.head import AttentionParams, StatisticsParams
from explorer.labs.attention.layer import ONE_LAYER
from explorer.labs.attention.neuron_figures import query_key_table
from explorer.labs.attention.switch import AblateParams, AblateRunParams, EachHeadParams
from explorer.labs.attention.terms import DISENTANGLED_TERMS
from explorer.labs.attention.views import AttentionViewParams, QueryKeyParams, view_table
from explorer.plain import plain_script

_COMPUTE = "explorer.labs.attention.head_jobs"
_SWITCH = "explorer.labs.attention.switch_jobs"
_VIEWS = "explorer.labs.attention.views_jobs"

ATTENTION = Action(
    Job(f"{_COMPUTE}:attention", together=f"{_COMPUTE}:attention_together"),
    AttentionParams,
    figures.attention_table,
    plain=plain_script("attention"),
)
STATISTICS = Action(
    Job(f"{_COMPUTE}:statistics_of_heads", together=f"{_COMPUTE}:statistics_together"),
    StatisticsParams,
    figures.statistics_table,
    plain=plain_script("head_statistics"),
    called="head_statistics",
)
ABLATE = Action(Job(f"{_SWITCH}:ablate_heads"), AblateParams, switch_figures.ablate_table, plain=plain.ablate_heads)
ABLATE_RUN = Action(
    Job(f"{_SWITCH}:ablate_run_heads", on="runs"),
    AblateRunParams,
    switch_figures.ablate_table,
    plain=plain.ablate_run_heads,
)
EACH_HEAD = Action(
    Job(f"{_SWITCH}:each_head"),
    EachHeadParams,
    switch_figures.each_head_table,
    plain=plain.each_head,
    called="ablate_each_head",
)
ATTENTION_VIEW = Action(
    Job(f"{_VIEWS}:attention_view", together=f"{_VIEWS}:attention_views_together"),
    AttentionViewParams,
    view_table,
    plain=plain.attention_view,
)
QUERY_KEY = Action(Job(f"{_VIEWS}:query_key"), QueryKeyParams, query_key_table, plain=plain.query_key)

LAB = Lab(
    slug="attention",
    title="Attention",
    chapter="Look inside",
    question="Which word looks at which?",
    teaser="See every head's attention, find the ones with a habit, and switch heads off to see what the model loses.",
    needs=None,
    reads=Reads("sentence_a", "any"),
    actions=(
        ATTENTION,
        STATISTICS,
        ABLATE,
        EACH_HEAD,
        ABLATE_RUN,
        ATTENTION_VIEW,
        QUERY_KEY,
        DISENTANGLED_TERMS,
        ONE_LAYER,
    ),
    tab="explorer.labs.attention.page:build",
)
