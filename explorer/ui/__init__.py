"""The kit that pages are built from: the page, the model and run pickers, components, and the wiring from actions to events."""
