"""Logit lens: the head read at every layer, as a table of tokens and as lines over the depth."""
