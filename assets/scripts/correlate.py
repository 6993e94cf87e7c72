"""Pearson and Spearman correlation of true and predicted scores, by scipy."""

from scipy.stats import pearsonr, spearmanr

POINTS = ((0.5, 1.0), (4.0, 3.5), (2.0, 2.5))  # true and predicted score

true, predicted = zip(*POINTS, strict=True)
rows = [
    ("pearson", pearsonr(true, predicted).statistic),
    ("spearman", spearmanr(true, predicted).statistic),
]

for name, value in rows:
    print(name, value)
