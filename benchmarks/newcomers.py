"""What one more visitor costs the server, and whether pages that they never open make it dearer."""

from __future__ import annotations

import gc
import time
import tracemalloc

import httpx
import psutil

from benchmarks.serving import listening
from benchmarks.visitors import MODEL

VISITORS = 200
SESSIONS = 20
MASKING = {"data": [MODEL, "The keys to the cabinet [MASK] on the table.", 5, ""]}
SERVER = """
import dataclasses
import explorer.labs as labs
wanted = {count}
every = [lab for lab in labs.LABS if lab.slug != "masking"]
more = [dataclasses.replace(lab, slug=lab.slug + "-again", actions=()) for lab in every]
masking = next(lab for lab in labs.LABS if lab.slug == "masking")
labs.LABS = (masking, *(every + more)[: wanted - 1])
import app
app.main()
"""
"""The app with so many labs, /masking among them; beyond all there are, some stand twice, their endpoints as `name_1`."""


def _cost(labs: int) -> tuple[float, float]:
    """Processor seconds and bytes that a visitor costs beyond the same question in a session that is known."""
    with listening("-c", SERVER.format(count=labs)) as (address, process):
        server = psutil.Process(process)
        with httpx.Client(base_url=address, timeout=60) as browser:

            def asked(name: str) -> float:
                """Processor seconds for so many questions, all the same, which the engine answers from memory."""
                before = server.cpu_times()
                for number in range(VISITORS):
                    question = {**MASKING, "session_hash": name.format(number)}
                    browser.post("gradio_api/run/fill_masks", json=question).raise_for_status()
                after = server.cpu_times()
                return (after.user + after.system) - (before.user + before.system)

            asked("known")  # the model is loaded, the answer kept, the allocator grown
            time.sleep(3)
            known = asked("known")
            held = server.memory_info().rss
            new = asked("new{}")
            return (new - known) / VISITORS, (server.memory_info().rss - held) / VISITORS


def _session_bytes(components: int) -> int:
    """What a new session takes beside so many components, by Python's own count."""
    import gradio as gr

    from explorer.serving.sessions import VisitorState

    with gr.Blocks() as app:
        for _ in range(components):
            gr.Textbox()
    gc.collect()
    tracemalloc.start()
    kept = [VisitorState(app) for _ in range(SESSIONS)]
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken // len(kept)


def measure() -> str:
    """Sessions beside ten components and a thousand, then the server with three labs, with all, and with five pages more."""
    from explorer.labs import LABS

    few, many = _session_bytes(10), _session_bytes(1000)
    lines = [
        f"a new session: {few} bytes beside 10 components, {many} beside 1,000 (wanted: at most 1.5 times as many)"
    ]
    for count in (3, len(LABS), len(LABS) + 5):
        seconds, size = _cost(count)
        lines.append(
            f"a new visitor, {count} labs: {1000 * seconds:.2f} ms of processor time and {size / 1000:.1f} KB beyond a known one "
            "(wanted: at most 40 ms and 300 KB)"
        )
    return "\n".join(lines)
