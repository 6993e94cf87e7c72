"""How the bundled checkpoints were made; `python -m explorer.pretraining --help` shows the commands."""
