"""The family: a card for each member, and all sizes side by side."""
