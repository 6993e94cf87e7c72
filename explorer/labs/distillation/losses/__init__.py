"""Losses: a student beside its teacher on one sentence, every kind of loss, and why the soft one is multiplied by T²."""
