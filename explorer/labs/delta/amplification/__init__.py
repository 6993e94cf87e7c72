"""Amplification: what ΔW strengthens in W, where in W's spectrum it lies, and whether full fine-tuning does the same."""
