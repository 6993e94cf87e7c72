"""The sources of tasks: the app itself, the hub, and visitors' files."""
