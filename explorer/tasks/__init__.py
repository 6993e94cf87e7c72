"""Tasks to fine-tune on: what they are, their metrics, and where their examples come from."""
