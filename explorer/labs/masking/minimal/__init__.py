"""Minimal pairs: thirty times two sentences, of which a model ought to find one likelier."""
