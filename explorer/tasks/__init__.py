"""Tasks to fine-tune on: their definitions, their metrics, and where their examples come from."""
