"""Try it: the chosen run on a text of the visitor's own, and several adapters in one batch."""
