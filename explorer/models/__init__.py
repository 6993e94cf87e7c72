"""Models: which there are, how they are fetched, loaded and shared, and how text becomes their input."""
