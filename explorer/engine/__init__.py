"""Where jobs run: the engine protocol and its implementations."""
