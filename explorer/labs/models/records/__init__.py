"""What was measured of the bundled models."""
