"""Runs: everything that the visitor has trained, side by side; everybody's for the lecturer."""
