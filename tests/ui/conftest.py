"""One app for all endpoint tests, and clients as scripts and notebooks use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from explorer.engine.local import LocalEngine
from explorer.models import timing
from explorer.settings import Settings
from explorer.shell import build_app, launch_options
from tests.caller import Caller
from tests.ports import serving

HAS_MCP = find_spec("mcp") is not None

LECTURER = "lecturer:teach"
"""The name with which the lecturer's link asks."""

QUICK: dict[str, Any] = {"examples": 32, "epochs": 1}
"""Two steps."""


@pytest.fixture(scope="package")
def chosen(data_folder: Path) -> Settings:
    """The app's settings."""
    return Settings(device="cpu", offline=True, data_folder=data_folder, lecturer_key="teach")


@pytest.fixture(scope="package")
def engine(chosen: Settings) -> LocalEngine:
    """The app's own."""
    return LocalEngine(chosen)


@pytest.fixture(scope="package")
def blocks(engine: LocalEngine) -> gr.Blocks:
    """All pages."""
    return build_app(engine)


@pytest.fixture(scope="package")
def address(blocks: gr.Blocks, engine: LocalEngine, chosen: Settings) -> Iterator[str]:
    options = launch_options(engine, chosen)
    in_turns = timing.in_turns
    with serving(blocks, mcp_server=HAS_MCP, **options) as url, pytest.MonkeyPatch.context() as quick:
        # what is timed is timed twice, of which quartiles can be had
        quick.setattr(timing, "in_turns", lambda calls, device, times: in_turns(calls, device, 2))
        yield url


@pytest.fixture(scope="package")
def client(address: str) -> Client:
    return Caller(address)


@pytest.fixture(scope="package")
def newcomer(address: str, client: Caller) -> Callable[[], Client]:
    """Makes clients of their own session: other visitors."""
    return lambda: Caller(address, client)


@pytest.fixture(scope="package")
def trained(client: Client, tiny_model: str) -> str:
    """A LoRA run of `client` on the tiny model; its id."""
    client.predict(model=tiny_model, **QUICK, api_name="/train")
    return newest(client)["run"]


def rows(answer: Any) -> list[dict[str, Any]]:
    """The last output, a Dataframe, as dicts; the only one of an endpoint comes by itself."""
    table = answer if isinstance(answer, dict) else answer[-1]
    return [dict(zip(table["headers"], row, strict=True)) for row in table["data"]]


def columns(answer: Any) -> list[str]:
    return list(answer[-1]["headers"])


def newest(client: Client, **as_whom: str) -> dict[str, Any]:
    """The client's run that was started last."""
    return rows(client.predict(**as_whom, api_name="/runs"))[0]


def refusal(client: Client, name: str, **parameters: Any) -> str:
    """What an endpoint says when it refuses."""
    with pytest.raises(AppError) as raised:
        client.predict(**parameters, api_name=name)
    said = str(raised.value)
    assert "Something went wrong" not in said
    assert "Traceback" not in said
    return said
