"""The action behind the terms of a head's scores."""

from __future__ import annotations

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.labs.attention import plain
from explorer.labs.attention.terms.figures import terms_table
from explorer.labs.attention.terms.schema import TermsParams, require_terms

DISENTANGLED_TERMS = Action(
    "disentangled_terms",
    Job("explorer.labs.attention.terms.jobs:disentangled_terms"),
    TermsParams,
    terms_table,
    require_terms,
    plain=plain.disentangled_terms,
)
