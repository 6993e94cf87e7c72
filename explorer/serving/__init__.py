"""Gradio's inside, known here alone: the server, its doors and limits, sessions, streams, notices, and what a browser fetches."""
