"""Corrupt: the pretraining recipe on the visitor's text, once, a thousand times, and over forty epochs."""
