"""Pretraining a small model from nothing, as BERT and its relatives were: text, vocabulary, rows, objective, steps."""
