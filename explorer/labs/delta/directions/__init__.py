"""Two runs: which directions they share."""
