"""Runs: trainings that outlive the page that started them."""
