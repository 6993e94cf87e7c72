"""The engine: where and in which order jobs run."""
