"""The eight tasks of GLUE (Wang et al. 2019) and its ninth, WNLI; a new task is one entry in TASKS.

Column names and the order of the labels are those of nyu-mll/glue on the hub, so that numbers mean the same everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from explorer.errors import BadInputError
from explorer.tasks.task import Task

_ENTAILED = ("entailment", "not entailment")

TASKS = (
    Task(
        "cola",
        "CoLA · grammar",
        "Is the sentence acceptable English?",
        ("sentence",),
        ("unacceptable", "acceptable"),
        ("matthews",),
        "Warstadt, Singh and Bowman 2019, Neural Network Acceptability Judgments: sentences from linguists' books and "
        "papers, each as its author judged it.",
    ),
    Task(
        "sst2",
        "SST-2 · sentiment",
        "Is the review positive?",
        ("sentence",),
        ("negative", "positive"),
        ("accuracy",),
        "Socher et al. 2013, Recursive Deep Models for Semantic Compositionality: phrases from film reviews, judged by "
        "readers; the neutral ones are left out.",
    ),
    Task(
        "mrpc",
        "MRPC · paraphrase",
        "Do the two sentences say the same?",
        ("sentence1", "sentence2"),
        ("not equivalent", "equivalent"),
        ("accuracy", "f1"),
        "Dolan and Brockett 2005, Automatically Constructing a Corpus of Sentential Paraphrases: pairs from news, about "
        "two thirds of them equivalent, hence F1 beside accuracy.",
    ),
    Task(
        "qqp",
        "QQP · duplicate questions",
        "Do the two questions ask the same?",
        ("question1", "question2"),
        ("not duplicate", "duplicate"),
        ("accuracy", "f1"),
        "Iyer, Dandekar and Csernai 2017, First Quora Dataset Release: pairs of questions that people asked on a forum.",
    ),
    Task(
        "stsb",
        "STS-B · similarity",
        "How alike are the two sentences, from 0 to 5?",
        ("sentence1", "sentence2"),
        (),
        ("pearson", "spearman"),
        "Cer et al. 2017, SemEval-2017 Task 1: pairs from news, captions and forums with the mean of several people's "
        "scores.",
    ),
    Task(
        "mnli",
        "MNLI · inference",
        "Does the hypothesis follow from the premise, or contradict it?",
        ("premise", "hypothesis"),
        ("entailment", "neutral", "contradiction"),
        ("accuracy",),
        "Williams, Nangia and Bowman 2018, A Broad-Coverage Challenge Corpus for Sentence Understanding through "
        "Inference: matched validation is of the training set's genres, mismatched of others.",
    ),
    Task(
        "qnli",
        "QNLI · answer or not",
        "Does the sentence answer the question?",
        ("question", "sentence"),
        _ENTAILED,
        ("accuracy",),
        "Rajpurkar et al. 2016, SQuAD, turned into pairs by Wang et al. 2019, GLUE: a question with one sentence of a "
        "paragraph that answers it somewhere.",
    ),
    Task(
        "rte",
        "RTE · entailment",
        "Does the second sentence follow from the first?",
        ("sentence1", "sentence2"),
        _ENTAILED,
        ("accuracy",),
        "Dagan et al. 2006, Bar-Haim et al. 2006, Giampiccolo et al. 2007 and Bentivogli et al. 2009: the PASCAL "
        "challenges on recognising textual entailment.",
    ),
    Task(
        "wnli",
        "WNLI · pronouns",
        "Is the second sentence right about whom the pronoun means?",
        ("sentence1", "sentence2"),
        ("not entailment", "entailment"),
        ("accuracy",),
        "Levesque, Davis and Morgenstern 2012, The Winograd Schema Challenge, turned into pairs by Wang et al. 2019, "
        "GLUE; the BERT paper leaves it out, since GLUE's split of it misleads.",
    ),
)


def bundled(task: Task) -> Task:
    """Return the task with the sentences that come with the app, which are not GLUE's; its title says so."""
    name, asks = task.title.split(" · ")
    return replace(
        task, title=f"{name}-like, bundled · {asks}", source=f"Sentences written for this app, after {task.source}"
    )


def find_task(slug: str) -> Task:
    """Return one of TASKS by its slug. Raises BadInputError, naming all of them, for any other."""
    for task in TASKS:
        if task.slug == slug:
            return task
    raise BadInputError(f"There is no task called {slug[:40]!r}. Take one of {', '.join(task.slug for task in TASKS)}.")
