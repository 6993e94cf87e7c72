"""Start the BERT Explorer: `python app.py`, or `make run`."""

from __future__ import annotations

import argparse
import importlib.util
import secrets
import signal
import sys
from dataclasses import replace

from explorer.memory import no_search
from explorer.serving.no_stubs import no_stubs
from explorer.settings import LAST_PORT, listen_on, settings

if __name__ == "__main__":  # before Gradio is imported, which reads settings itself and says nothing that helps
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # process 1, as in a container, hears only what it asks for
    try:
        settings()
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)

with no_search(), no_stubs():  # two seconds less before the first page
    from explorer.engine.select_engine import engine_of
    from explorer.errors import ExplorerError
    from explorer.models.catalog import DEFAULT_MODEL
    from explorer.serving.server import serve_until_told
    from explorer.shell import build_app, launch_options


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to {LAST_PORT}, and this is {text!r}")
    return int(text)


def main() -> None:
    """Parse the command line, build the pages, serve, warm the first model up in the background."""
    standard = settings()
    parser = argparse.ArgumentParser(description="Serve the BERT Explorer.")
    parser.add_argument("--host", default=standard.server_name, help="default: GRADIO_SERVER_NAME or 127.0.0.1")
    parser.add_argument("--port", type=_port, default=standard.server_port, help="default: GRADIO_SERVER_PORT or 7860")
    parser.add_argument(
        "--mcp", action="store_true", help="serve the actions to assistants as well, at /gradio_api/mcp/"
    )
    arguments = parser.parse_args()
    if arguments.mcp and importlib.util.find_spec("mcp") is None:
        sys.exit("--mcp needs the package mcp: pip install -r requirements-mcp.txt")
    chosen = listen_on(arguments.host)
    if not chosen.lecturer_key:
        chosen = replace(chosen, lecturer_key=secrets.token_urlsafe(9))
    try:
        engine = engine_of(chosen)
    except ExplorerError as error:
        sys.exit(str(error))
    with no_search():
        app = build_app(engine)
    print(
        f"* For the lecturer, who sees everybody's runs: add ?lecturer={chosen.lecturer_key} to a page's address",
        flush=True,
    )
    try:
        app.launch(
            server_name=arguments.host,
            server_port=arguments.port,
            prevent_thread_lock=True,
            mcp_server=arguments.mcp or None,
            **launch_options(engine, chosen),
        )
    except OSError as error:
        sys.exit(
            f"The app cannot listen on port {arguments.port}: give another by --port or GRADIO_SERVER_PORT. ({error})"
        )
    engine.warm_up(DEFAULT_MODEL)  # not before: reading torch would keep the first page waiting
    serve_until_told(app)


if __name__ == "__main__":
    main()
