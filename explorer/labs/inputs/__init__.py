"""Inputs: what a model reads, from the text to the vectors that its first layer is given."""

from explorer.action import Action, Lab, LiveAction, Reads
from explorer.engine.protocol import Job
from explorer.labs.inputs import cut_figures, plain, typos_figures
from explorer.labs.inputs import embeddings_figures as sum_figures
from explorer.labs.inputs import pieces_figures as figures
from explorer.labs.inputs import positions_figures as detail_figures
from explorer.labs.inputs.embeddings import PositionsParams, SumParams, TokenPartsParams, require_positions
from explorer.labs.inputs.relative import RELATIVE_POSITIONS
from explorer.labs.inputs.schema import CutParams, TokenizeParams
from explorer.labs.inputs.typos import SEED, SharesParams, SharesResult, TyposParams
from explorer.plain import plain_script
from explorer.worked import Opening

_COMPUTE = "explorer.labs.inputs.jobs"
_SUM = "explorer.labs.inputs.embeddings_jobs"
_TYPOS = "explorer.labs.inputs.typos_jobs"

TOKENIZE = Action(
    Job(f"{_COMPUTE}:tokenize", on="tokenizers"),
    TokenizeParams,
    figures.tokenize_table,
    plain=plain_script("tokenize", plain.text_and_tokenizers, "transformers"),
)
CUT_WORD = Action(Job(f"{_COMPUTE}:cut_word", on="tokenizers"), CutParams, cut_figures.cut_table, plain=plain.cut_word)
EMBEDDING_PARTS = Action(
    Job(f"{_SUM}:sum_parts"),
    SumParams,
    sum_figures.sum_table,
    plain=plain.of_parts("embedding_parts"),
    called="embedding_parts",
)
TOKEN_PARTS = Action(
    Job(f"{_SUM}:token_parts"), TokenPartsParams, detail_figures.token_table, plain=plain.of_parts("token_parts")
)
POSITION_SIMILARITY = Action(
    Job(f"{_SUM}:position_similarity"),
    PositionsParams,
    detail_figures.positions_table,
    require_positions,
    plain=plain.positions,
)
TYPOS = Action(Job(f"{_TYPOS}:typos", on="resources"), TyposParams, typos_figures.typos_table, plain=plain.typos)
TYPOS_OVER_SHARES = LiveAction(
    Job(f"{_TYPOS}:typos_over_shares", on="resources"),
    SharesParams,
    typos_figures.shares_table,
    openings=(Opening(SharesParams(seed=SEED), SharesResult),),
    plain=plain.typos_over_shares,
)

LAB = Lab(
    slug="inputs",
    title="Inputs",
    chapter="Read",
    question="What does BERT really read?",
    teaser="See a text cut in pieces by three methods, step by step, the vectors that are added up for each, and what typos do.",
    needs=None,
    reads=Reads("text", "any"),
    actions=(
        TOKENIZE,
        CUT_WORD,
        EMBEDDING_PARTS,
        TOKEN_PARTS,
        POSITION_SIMILARITY,
        RELATIVE_POSITIONS,
        TYPOS,
        TYPOS_OVER_SHARES,
    ),
    tab="explorer.labs.inputs.page:build",
)
