"""Every endpoint is explained where clients look: in the API's description, in OpenAPI's, and as a tool of an MCP server."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

import explorer
from explorer.reference import reference
from explorer.serving.documented import MOST_ROWS, NO_FILE
from tests.loops import run
from tests.rows import each_row

ACTIONS = explorer.actions()


@pytest.fixture(scope="module")
def openapi(address: str) -> dict[str, Any]:
    paths: dict[str, Any] = httpx.get(f"{address}gradio_api/openapi.json", timeout=60).json()["paths"]
    return {path.rsplit("/", 1)[-1]: found["post"] for path, found in paths.items() if "post" in found}


@each_row("name", ACTIONS)
def test_openapi_explains_every_action_and_parameter(openapi: dict[str, Any], name: str) -> None:
    said, page = reference(ACTIONS[name]), openapi[name]
    assert page["summary"].startswith(said.summary)
    assert said.about in page["description"]
    assert said.columns in page["description"]
    properties = page["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert properties.keys() - said.parameters.keys() <= {"visitor"}
    for parameter, schema in properties.items():
        assert len(schema["description"]) > 2
        if parameter in said.parameters:
            assert schema["description"] == said.parameters[parameter].said


def test_a_list_that_is_not_all_there_is_refuses_no_other_name(openapi: dict[str, Any]) -> None:
    asked = openapi["corrupt"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert "bert-small" in asked["model"]["examples"]
    assert "enum" not in asked["model"]
    assert asked["scheme"]["enum"] == ["token", "whole_word", "ngram"]


def talk(address: str, *calls: tuple[str, dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """As an assistant does: the tools that are offered at an address, and the answers to calls."""
    pytest.importorskip("mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def talked() -> tuple[list[Any], list[Any]]:
        async with (
            streamablehttp_client(address) as (reads, writes, _),
            ClientSession(reads, writes) as session,
        ):
            await session.initialize()
            return (await session.list_tools()).tools, [await session.call_tool(*call) for call in calls]

    return run(talked())


def test_an_assistant_finds_every_action_and_calls_it(address: str) -> None:
    asked = {"model": "bert-mini", "text": "Paris is in [MASK].", "top_k": 2}
    tools, (filled, many) = talk(f"{address}gradio_api/mcp/", ("fill_masks", asked), ("directions_of_fifty", {}))
    by_name = {tool.name: tool for tool in tools}
    assert by_name.keys() >= {*ACTIONS, "upload_task", "import_adapter", "stop_run"}
    for tool in tools:
        assert len(tool.description) > 20
        assert all(len(schema["description"]) > 2 for schema in tool.inputSchema["properties"].values()), tool.name
    for name, action in ACTIONS.items():
        assert by_name[name].description.startswith(reference(action).summary)
    table = explorer.run("fill_masks", **asked).table
    assert [tuple(row) for row in json.loads(filled.content[0].text)["rows"]] == list(table.rows)
    whole = explorer.run("directions_of_fifty").table
    told = json.loads(many.content[0].text)
    assert told["columns"] == list(whole.columns)
    assert len(told["rows"]) == min(MOST_ROWS, len(whole.rows))
    few, _ = talk(f"{address}gradio_api/mcp/?tools=fill_masks,score_pair")
    assert [tool.name for tool in few] == ["fill_masks", "score_pair"]


def as_content(text: str) -> str:
    return "data:text/csv;base64," + base64.b64encode(text.encode()).decode()


def test_an_assistant_reads_the_sentence_of_a_refusal_as_it_is(address: str) -> None:
    unknown = "No run is called 'nobodys': it may have been deleted, or be on another server."
    expected = {
        "fill_masks": ({"top_k": 300}, "top_k must be a whole number from 1 to 50."),
        "follow_run": ({"run": "nobodys"}, unknown),
        "stop_run": ({"run": "nobodys", "visitor": "ada"}, unknown),
        "upload_task": ({"file": "/etc/passwd"}, NO_FILE),
        "import_adapter": ({"file": as_content("no adapter")}, "'file.csv' is neither a zip nor safetensors."),
    }
    _, answers = talk(f"{address}gradio_api/mcp/", *((name, given) for name, (given, _) in expected.items()))
    for answer, (name, (_, sentence)) in zip(answers, expected.items(), strict=True):
        assert answer.isError, name
        assert answer.content[0].text.startswith(sentence)


def test_an_assistant_brings_a_file_as_its_content(address: str) -> None:
    table = "text,label\n" + "".join(f"An assistant's row {number}.,{number % 2}\n" for number in range(40))
    _, (answer,) = talk(f"{address}gradio_api/mcp/", ("upload_task", {"file": as_content(table)}))
    assert "32 examples to train on and 8 held out" in answer.content[0].text
