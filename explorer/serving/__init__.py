"""All code that touches Gradio's inside: the server, its doors and limits, sessions, streams, notices, and what a
browser fetches.
"""
