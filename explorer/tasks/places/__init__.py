"""Where tasks come from: the app itself, the hub, and visitors' files."""
