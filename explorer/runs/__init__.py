"""Runs: trainings that go on when the page that started them is closed."""
