"""Spectrum: the singular values of ΔW, step by step, and how much each layer has changed."""
