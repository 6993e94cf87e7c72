"""Accuracy, precision, recall, F1 and Matthews of a confusion matrix, by scikit-learn."""

from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef, precision_score, recall_score

MATRIX = ((40, 10), (5, 45))  # a row for each true class, a column for each predicted one

cells = [(true, guess, count) for true, row in enumerate(MATRIX) for guess, count in enumerate(row)]
labels, predictions, counts = zip(*cells, strict=True)
average = "binary" if len(MATRIX) == 2 else "macro"  # of two classes the second is positive; of more, their mean
each = {"sample_weight": counts, "average": average, "zero_division": 0}

rows = [
    ("accuracy", accuracy_score(labels, predictions, sample_weight=counts)),
    ("precision", precision_score(labels, predictions, **each)),
    ("recall", recall_score(labels, predictions, **each)),
    ("f1", f1_score(labels, predictions, **each)),
    ("matthews", matthews_corrcoef(labels, predictions, sample_weight=counts)),  # 0.0 where it is 0/0
]

for name, value in rows:
    print(name, value)
