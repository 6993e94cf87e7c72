"""A fine-tuned run's class, on a text of the visitor's shared."""
