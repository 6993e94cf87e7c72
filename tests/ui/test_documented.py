"""Every endpoint is explained where clients look: in the API's description, in OpenAPI's, and as a tool of an MCP server."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

import explorer
from explorer.reference import reference
from explorer.ui.documented import MOST_ROWS
from tests.loops import run

ACTIONS = explorer.actions()


@pytest.fixture(scope="module")
def openapi(address: str) -> dict[str, Any]:
    paths: dict[str, Any] = httpx.get(f"{address}gradio_api/openapi.json", timeout=60).json()["paths"]
    return {path.rsplit("/", 1)[-1]: found["post"] for path, found in paths.items() if "post" in found}


@pytest.mark.parametrize("name", ACTIONS)
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


def test_an_assistant_finds_every_action_and_calls_it(address: str) -> None:
    pytest.importorskip("mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def talk(path: str, *calls: tuple[str, dict[str, Any]]) -> tuple[list[Any], list[Any]]:
        client = streamablehttp_client(f"{address}gradio_api/mcp/{path}")
        async with client as (reads, writes, _), ClientSession(reads, writes) as session:
            await session.initialize()
            return (await session.list_tools()).tools, [await session.call_tool(*call) for call in calls]

    asked = {"model": "bert-mini", "text": "Paris is in [MASK].", "top_k": 2}
    tools, answers = run(talk("", ("fill_masks", asked), ("fill_masks", {"top_k": 300}), ("directions_of_fifty", {})))
    by_name = {tool.name: tool for tool in tools}
    assert by_name.keys() >= ACTIONS.keys()
    for name, action in ACTIONS.items():
        said, properties = reference(action), by_name[name].inputSchema["properties"]
        assert by_name[name].description.startswith(said.summary)
        assert all(schema["description"] for schema in properties.values())
    filled, refused, many = answers
    table = explorer.run("fill_masks", **asked).table
    assert [tuple(row) for row in json.loads(filled.content[0].text)["rows"]] == list(table.rows)
    assert refused.isError
    assert "top_k must be a whole number from 1 to 50." in refused.content[0].text
    whole = explorer.run("directions_of_fifty").table
    told = json.loads(many.content[0].text)
    assert told["columns"] == list(whole.columns)
    assert len(told["rows"]) == min(MOST_ROWS, len(whole.rows))
    few, _ = run(talk("?tools=fill_masks,score_pair"))
    assert [tool.name for tool in few] == ["fill_masks", "score_pair"]
