"""How the bundled checkpoints were made; `python -m pretraining --help` shows the commands."""
