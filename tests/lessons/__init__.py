"""Tests of explorer.lessons."""
