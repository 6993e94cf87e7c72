"""The Metrics tab's tables, scripts and explanations; its pictures are drawn in the browser, where they move at once."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts.words import quoted, strong
from explorer.labs.finetune.metrics_compute import linear
from explorer.labs.finetune.metrics_schema import ConfusionParams, PointsParams, TakenApart
from explorer.tables import Table
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS


def taken_table(result: TakenApart) -> Table:
    """metric, value (empty where it divides by zero), formula."""
    rows = [(metric.slug, metric.value, linear(metric)) for metric in result.metrics]
    return Table.of(("metric", "value", "formula"), rows)


_MATRIX_SCRIPT = """\
# The same numbers by scikit-learn: pip install scikit-learn
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, precision_score, recall_score

matrix = {matrix}  # a row for each true class, a column for each predicted one
cells = [(true, guess, count) for true, row in enumerate(matrix) for guess, count in enumerate(row)]
labels, predictions, counts = zip(*cells)
each = {{"sample_weight": counts, "average": "{average}", "zero_division": 0}}

print("accuracy ", accuracy_score(labels, predictions, sample_weight=counts))
print("precision", precision_score(labels, predictions, **each))
print("recall   ", recall_score(labels, predictions, **each))
print("f1       ", f1_score(labels, predictions, **each))
print("matthews ", matthews_corrcoef(labels, predictions, sample_weight=counts))  # 0.0 where it is 0/0
"""

_POINTS_SCRIPT = """\
# The same numbers by scipy: pip install scipy
from scipy.stats import pearsonr, spearmanr

points = [
{points}
]  # true and predicted score
true, predicted = zip(*points)

print("pearson ", pearsonr(true, predicted).statistic)
print("spearman", spearmanr(true, predicted).statistic)
"""


def matrix_script(params: ConfusionParams) -> str:
    """Python that computes the metrics by scikit-learn; it needs nothing of this project."""
    rows = [list(row) for row in params.matrix]
    return _MATRIX_SCRIPT.format(matrix=rows, average="binary" if len(rows) == 2 else "macro")


def points_script(params: PointsParams) -> str:
    """Python that computes both correlations by scipy; it needs nothing of this project."""
    return _POINTS_SCRIPT.format(points="\n".join(f"    {point!r}," for point in params.points))


_REASONS = {
    "cola": "70% of the training sentences are acceptable, so always saying yes is right for 70%. Matthews gives that no "
    "credit: it is 0 for every guess that does not look at the sentence.",
    "sst2": "Positive and negative are about equally frequent, so accuracy hides nothing.",
    "mrpc": "67% of the training pairs are paraphrases. Accuracy alone flatters a model that says yes too often; F1 falls "
    "with every pair that is wrongly called a paraphrase or missed.",
    "qqp": "63% of the pairs are no duplicates. F1 looks at the rarer class: are the duplicates found?",
    "stsb": "The label is a score from 0 to 5, not a class. Pearson asks whether the predictions rise with it along a "
    "line, Spearman whether they put the pairs in the right order.",
    "mnli": "Three classes of about equal size. Measured twice: on the genres of the training set (matched) and on others "
    "(mismatched).",
    "qnli": "Two classes of equal size.",
    "rte": "Two classes of about equal size.",
    "wnli": "About equally frequent in training; in the test set 65% are not entailed, and few systems of its time did "
    "better than always saying so.",
}
"""Why each task is judged as it is; the shares are those of GLUE's paper and of the files it distributes."""


def task_table() -> Markup:
    """GLUE's nine tasks, the metrics that judge them, and why."""
    rows = [
        (
            strong(task.title) + Markup("<br>") + ", ".join(METRICS[name].title for name in task.metrics),
            _REASONS[task.slug],
        )
        for task in TASKS
    ]
    return quoted(("task, and what judges it", "why"), rows)


WHY = rf"""
Of the examples, TP are positive and called so, FN are positive and missed, FP are called positive by mistake, TN are rightly
left alone. Precision is the share of what is called positive that is, recall the share of the positives that is found.

$$F_1 = {METRICS["f1"].formula}$$

F1 does not look at TN, so it depends on which class is called positive. Matthews uses all four cells and is the same either way:

$$\varphi = \frac{{TP \cdot TN - FP \cdot FN}}{{\sqrt{{t_+\,t_-\,p_+\,p_-}}}}$$

with the four totals at the edges of the matrix: $t_+$ examples are positive and $t_-$ negative, $p_+$ and $p_-$ are called so. It
is 0 for any guess that is independent of the truth. Where everything is called by one name it is 0/0; scikit-learn then says 0.
For more classes precision, recall and F1 are averaged over them (*macro*), and Matthews becomes Gorodkin's formula from $c$ right
of $s$ examples, of which class $k$ has $t_k$ and is predicted $p_k$ times. For scores, Pearson is

$$r = {METRICS["pearson"].formula}$$

and Spearman is Pearson of the ranks. Neither sees whether all predictions are too high, or too close together: both ask only how
true and predicted score move together.

(Matthews 1975, *Comparison of the predicted and observed secondary structure of T4 phage lysozyme*; Gorodkin 2004, *Comparing two
K-category assignments by a K-category correlation coefficient*; Spearman 1904, *The proof and measurement of association between
two things*; Wang et al. 2019, *GLUE*, section 3)
"""
