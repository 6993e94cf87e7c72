"""The way through the pages: what each tab leaves open and where that leads, and ten questions in their order.

It is data: `explorer.navigation` puts a line at the foot of every tab, the home page lists the ten questions, and a test opens
every address that is named here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lead:
    """A question that a tab leaves open, and the address of the tab that answers it."""

    question: str
    to: str


@dataclass(frozen=True)
class Station:
    """A question on the path. leaves: what the answer leaves open. of_45, of_90: the minute at which a lecture of that length
    comes to it; the short one has no time for all.
    """

    question: str
    to: str
    leaves: str
    of_90: int
    of_45: int | None = None


STATIONS = (
    Station("What stands in the blank?", "", "How does it know?", 0, 0),
    Station("What does BERT really read?", "inputs", "Pieces. Which of them may it look at?", 6),
    Station("Left, right or both?", "directions", "With both sides in view, every word sees its own answer.", 12, 4),
    Station("Which word looks at which?", "attention", "It looks at both sides. How is it taught to?", 20),
    Station(
        "How can both sides be trained?", "masking#tab=corrupt", "Only 15% teach, and [MASK] never occurs later.", 28, 8
    ),
    Station("What does one row of training cost?", "pretrain", "Does the pair of sentences help?", 36, 13),
    Station("Was it the recipe? (RoBERTa)", "models#tab=recipe", "It is better, and as large as before.", 42, 18),
    Station(
        "Can it be smaller? (ALBERT)", "models#tab=sizes", "Fewer parameters, no less computing, and still 15%.", 49, 23
    ),
    Station("Can every token teach? (ELECTRA)", "replaced", "It learns sooner, and stays as large.", 56, 28),
    Station(
        "Can a teacher say more than a label?",
        "distillation",
        "DistilBERT is half as deep; each task has a copy.",
        62,
        32,
    ),
    Station("How little must change? (LoRA)", "finetune#tab=compare", "A small update beside all of W.", 69, 37),
    Station("What is the update made of?", "delta", "All of W is still there.", 75),
    Station(
        "How does a model write, and how is it judged?", "generation", "An encoder can't. What of it is needed?", 80
    ),
    Station("How much of it is needed?", "pruning", "What your own task would keep.", 85, 42),
)
"""From "What stands in the blank?" to "How much of it is needed?": ten for 45 minutes, and four more for 90."""


@dataclass(frozen=True)
class Place:
    """A tab that the menu names beside the pages of its chapter: half of what the lectures teach stands in one."""

    title: str
    to: str
    question: str
    chapter: str


PLACES = (
    Place("RoBERTa", "models#tab=recipe", "Was it the recipe?", "Family"),
    Place("ALBERT", "models#tab=sizes", "Can it be smaller?", "Family"),
)

PATH = tuple(station for station in STATIONS if station.of_45 is not None)

LEADS: dict[tuple[str, str], Lead] = {
    ("", ""): Lead("It reads both sides. What would one side alone guess?", "directions"),
    ("inputs", "pieces"): Lead("How is one word cut?", "inputs#tab=cut"),
    ("inputs", "cut"): Lead("What becomes of a piece?", "inputs#tab=sum"),
    ("inputs", "sum"): Lead("Does the place alone say anything?", "inputs#tab=positions"),
    ("inputs", "positions"): Lead("What if a word is misspelt?", "inputs#tab=typos"),
    ("inputs", "typos"): Lead("Is that so in more than one text?", "inputs#tab=many"),
    ("inputs", "many"): Lead("The pieces are read. Which looks at which?", "attention"),
    ("directions", "blank"): Lead("Is that so in more than one sentence?", "directions#tab=fifty"),
    ("directions", "fifty"): Lead("Why isn't it trained to say the next word?", "directions#tab=answer"),
    ("directions", "answer"): Lead("Then what is it trained to say?", "masking#tab=corrupt"),
    ("directions", "stacks"): Lead("What can a decoder do that an encoder can't?", "generation"),
    ("masking", "fill"): Lead("What if several words are hidden?", "masking#tab=several"),
    ("masking", "several"): Lead("How likely is a whole sentence?", "masking#tab=score"),
    ("masking", "swap"): Lead("At which layer does the guess turn, and by which words?", "context#tab=lens"),
    ("masking", "score"): Lead("What was it trained to do?", "masking#tab=corrupt"),
    ("masking", "corrupt"): Lead("Why 15% and not more?", "masking#tab=rate"),
    ("masking", "rate"): Lead("Could every token teach?", "replaced"),
    ("replaced", "draw"): Lead("Can you fool it?", "replaced#tab=hand"),
    ("replaced", "hand"): Lead("How often is it right?", "replaced#tab=draws"),
    ("replaced", "draws"): Lead("It is as large as before. Can a teacher shorten it?", "distillation"),
    ("pairs", "one"): Lead("Was it worth training that?", "pairs#tab=helped"),
    ("pairs", "all"): Lead("Is the order of two sentences harder?", "pairs#tab=order"),
    ("pairs", "order"): Lead("What do both heads say of the same pairs?", "pairs#tab=both"),
    ("pairs", "both"): Lead("What else did ALBERT change?", "models#tab=sizes"),
    ("pairs", "helped"): Lead("What did RoBERTa do instead?", "models#tab=recipe"),
    ("pretrain", "row"): Lead("How does a model get there from nothing?", "pretrain#tab=train"),
    ("pretrain", "train"): Lead("Was it the recipe that mattered?", "models#tab=recipe"),
    ("models", "family"): Lead("How large are they, side by side?", "models#tab=bars"),
    ("models", "bars"): Lead("What did that bring?", "models#tab=scores"),
    ("models", "scores"): Lead("How do you make it fit your task?", "finetune"),
    ("models", "curves"): Lead("What does a model learn first, and what takes it longer?", "pretrain#tab=train"),
    ("models", "sizes"): Lead("Does a shared layer say the same at every depth?", "models#tab=movement"),
    ("models", "recipe"): Lead("It is as large as before. Can it be smaller?", "models#tab=sizes"),
    ("models", "movement"): Lead("What does the state say of the hidden word after each layer?", "context#tab=lens"),
    ("agrees", ""): Lead("Try it: fine-tune one here", "finetune"),
    ("wayup", ""): Lead("Which of its heads do what?", "attention#tab=all"),
    ("context", "word"): Lead("When is the guess made?", "context#tab=lens"),
    ("context", "lens"): Lead("Which state has the answer in it?", "context#tab=patch"),
    ("context", "patch"): Lead("What else can be read from a state?", "context#tab=probe"),
    ("context", "probe"): Lead("What carries it from word to word?", "attention"),
    ("attention", "one"): Lead("What do the other heads do?", "attention#tab=all"),
    ("attention", "all"): Lead("Are all of them needed?", "attention#tab=switches"),
    ("attention", "views"): Lead("Why does a head look there?", "attention#tab=neurons"),
    ("attention", "neurons"): Lead("Does it look at the word or at its place?", "attention#tab=terms"),
    ("attention", "terms"): Lead("What else is in a layer?", "attention#tab=layer"),
    ("attention", "layer"): Lead("What if a head is switched off?", "attention#tab=switches"),
    ("attention", "switches"): Lead("Which words made it say that?", "attribution"),
    ("attention", "run-switches"): Lead("How many heads can go?", "pruning"),
    ("attribution", "model"): Lead("And in a classifier?", "attribution#tab=run"),
    ("attribution", "run"): Lead("What did fine-tuning change to get there?", "delta"),
    ("finetune", "train"): Lead("Does it work on your sentence?", "finetune#tab=try"),
    ("finetune", "try"): Lead("Which words made it say that?", "attribution#tab=run"),
    ("finetune", "compare"): Lead("What is the update made of?", "delta"),
    ("finetune", "sweep"): Lead("How many directions does an update use?", "delta#tab=spectrum"),
    ("finetune", "runs"): Lead("What is inside the update of one?", "delta"),
    ("finetune", "glue"): Lead("What do the metrics count?", "finetune#tab=metrics"),
    ("finetune", "merge"): Lead("Is the merged model smaller? How much of it is needed?", "pruning"),
    ("finetune", "memory"): Lead("And what does each method cost in time?", "finetune#tab=time"),
    ("finetune", "time"): Lead("Do fewer bits do as well?", "pruning#tab=quantise"),
    ("finetune", "metrics"): Lead("What do the eight tasks report?", "finetune#tab=glue"),
    ("generation", "continue"): Lead("Can it be told what to say?", "generation#tab=meaning"),
    ("generation", "meaning"): Lead("How is it taught to?", "generation#tab=adapt"),
    ("generation", "adapt"): Lead("Who says which text is better?", "generation#tab=scores"),
    ("generation", "scores"): Lead("How does one sentence get its score?", "generation#tab=parts"),
    ("generation", "parts"): Lead("How large was the update that did it?", "delta"),
    ("delta", "weight"): Lead("How many directions does it use?", "delta#tab=spectrum"),
    ("delta", "spectrum"): Lead("Do two runs find the same?", "delta#tab=compare"),
    ("delta", "compare"): Lead("Are they directions that W had?", "delta#tab=amplification"),
    ("delta", "amplification"): Lead("Does full fine-tuning amplify too?", "delta#tab=layers"),
    ("delta", "layers"): Lead("Does an update add directions that W did not have?", "delta#tab=intruders"),
    ("delta", "intruders"): Lead("What is lost by it?", "delta#tab=forgetting"),
    ("delta", "forgetting"): Lead("All of W is still there. How much is needed?", "pruning"),
    ("distillation", "soft"): Lead("What does a student minimise?", "distillation#tab=losses"),
    ("distillation", "losses"): Lead("How good does it get?", "distillation#tab=train"),
    ("distillation", "train"): Lead("Which of the terms matters?", "distillation#tab=ablation"),
    ("distillation", "ablation"): Lead("Must all of a task's weights be tuned?", "finetune#tab=compare"),
    ("pruning", "orders"): Lead("Which heads and neurons matter?", "pruning#tab=importance"),
    ("pruning", "importance"): Lead("Is the model smaller without them?", "pruning#tab=remove"),
    ("pruning", "remove"): Lead("Is it better in several steps?", "pruning#tab=steps"),
    ("pruning", "steps"): Lead("Or with fewer bits for each weight?", "pruning#tab=quantise"),
    ("pruning", "quantise"): Lead("And a smaller model from the first?", "distillation"),
}
"""By page and tab (of the outermost, where tabs lie in tabs)."""
