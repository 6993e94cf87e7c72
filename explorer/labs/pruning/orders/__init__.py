"""Prune and see: three orders on one plot, and heads by hand."""
