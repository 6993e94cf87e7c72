"""A visitor's text continued: several decodings side by side, and the choice at every token."""
