"""Pretraining objectives: rows drawn from text, batches with their masks, and the losses; no recipes and no runs."""
