"""Neuron view: one token's query, every key, their products, and the weights that come of them."""
