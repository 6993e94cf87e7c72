"""The shell around the labs: pages, picker, components, and the wiring from actions to events."""
