"""Where jobs run: the executor protocol and its implementations."""
