"""What was measured of the bundled models, and how their training went."""
