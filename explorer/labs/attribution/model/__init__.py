"""A model's own prediction: a mask, a pair of texts, replaced tokens or the next token, whatever its head is for."""
