"""Score: how likely a sentence is, token by token, and which of two a model prefers."""
