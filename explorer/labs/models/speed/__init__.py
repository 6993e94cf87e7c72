"""Whether sharing one layer at all depths saves time."""
