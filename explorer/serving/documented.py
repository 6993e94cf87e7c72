"""Documents endpoints: on the API page, in /gradio_api/openapi.json, and as tools for assistants (MCP)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import gradio as gr
from gradio_client import Client  # type: ignore[import-untyped]

from explorer.kinds import OneOf
from explorer.reference import Parameter, Reference, shared
from explorer.serving.class_door import HEADER
from explorer.serving.refusal import Refusal

MOST_ROWS = 200
"""Rows of a table that an assistant gets at most: it reads every one of them, and pays for them."""


NO_FILE = (
    "A file must come as its content (data:text/csv;base64,…), or as a link to it (https://…) where the server fetches links. "
    "Send the content, or let a person choose the file on the page."
)
"""The message for an assistant that sends a file in another way."""


class DocumentedPages(gr.Blocks):
    """Pages whose endpoints are explained by `references`, which are computed when somebody asks and not at the start."""

    references: Mapping[str, Reference] = {}

    def get_api_info(self, *given: Any, **options: Any) -> Any:
        """Return Gradio's description of the endpoints, with an explanation of each endpoint and each of its parameters."""
        for event in self.fns.values():
            if event.api_visibility == "public" and event.api_name in self.references:
                event.api_description = _described(self.references[str(event.api_name)])
        info = super().get_api_info(*given, **options)
        for name, endpoint in info["named_endpoints"].items():
            reference = self.references.get(name.removeprefix("/"))
            for parameter in endpoint["parameters"]:
                _explain(parameter, reference.parameters if reference else {})
        return info

    def launch(self, *given: Any, password: str = "", **options: Any) -> Any:
        """Launch as Gradio does; with `mcp_server=True` a tool is called as its endpoint, and answers with the table
        alone.

        password: the class's, with which a tool that takes a while asks this same server.
        """
        launched = super().launch(*given, **options)
        if (server := self.mcp_server_obj) is not None:
            endpoints = server.api_info["named_endpoints"]
            # Gradio would call a tool by its Python function.
            server.tool_to_endpoint = {f"{server.tool_prefix}{name.removeprefix('/')}": name for name in endpoints}
            server.get_fn_description = partial(_without_parameters, server.get_fn_description)  # type: ignore[method-assign]
            server.convert_strings_to_filedata = partial(_brought, server, server.convert_strings_to_filedata)  # type: ignore[method-assign]
            server.postprocess_output_data = partial(_table_alone, server.postprocess_output_data)  # type: ignore[method-assign]
            if password:
                server._get_or_create_client = partial(_own_client, server, password)  # type: ignore[method-assign]
        return launched


def _own_client(server: Any, password: str) -> Client:
    """Return Gradio's client for a server, which is let in by the password."""
    if server._client_instance is None:
        server._client_instance = Client(
            server.local_url,
            download_files=False,
            verbose=False,
            analytics_enabled=False,
            ssl_verify=False,
            _skip_components=False,
            headers={"x-gradio-user": "mcp", HEADER: password},
        )
    return cast(Client, server._client_instance)


def _explain(parameter: Any, known: Mapping[str, Parameter]) -> None:
    """Put an explanation into a parameter's schema."""
    name = parameter["parameter_name"]
    schema = {**parameter["type"], "description": known[name].said if name in known else shared(name)}
    closed = name in known and isinstance(known[name].kind, OneOf)
    # Other names are taken too, so the list is no enumeration.
    if not closed and (examples := schema.pop("enum", None)):
        schema["examples"] = examples
    parameter["type"] = schema
    parameter["python_type"] = {**parameter["python_type"], "description": schema["description"]}


def _described(reference: Reference) -> str:
    """Return an endpoint's description. It ends in a space, since Gradio appends how to fetch the output."""
    return f"{reference.about} The table, which is the last output: {reference.columns} "


def _without_parameters(
    describe: Callable[[Any, str], tuple[str, Any]], event: Any, name: str
) -> tuple[str, dict[str, str]]:
    """Return Gradio's description of a tool without parameters: these have theirs already, which those of an empty
    docstring would hide.
    """
    return describe(event, name)[0], {}


def _brought(server: Any, convert: Callable[..., Any], given: dict[str, Any], places: list[list[str | int]]) -> Any:
    """Return links and contents that an assistant sends as files, as Gradio does; the files are removed after a day,
    like others.
    """
    try:
        found = convert(given, places)
    except Exception:
        raise Refusal(NO_FILE) from None
    files = [found.get(place[0]) for place in places]
    server.blocks.upload_file_set.update(file["path"] for file in files if isinstance(file, dict))
    return found


def _table_alone(contents: Callable[[Any, str], Any], outputs: Any, root_url: str) -> Any:
    """Return the last output in the form in which Gradio hands it to an assistant."""
    # The others are the page's drawings. The outputs of a stream come nested in a list.
    while isinstance(outputs, list | tuple):
        outputs = outputs[-1]
    return contents([_for_assistants(outputs)], root_url)


def _for_assistants(output: Any) -> Any:
    """Return a table as JSON, cut if it is long; anything else unchanged."""
    if not (isinstance(output, dict) and output.keys() >= {"headers", "data"}):
        return output
    rows = output["data"]
    table = {"columns": output["headers"], "rows": rows[:MOST_ROWS]}
    if len(rows) > MOST_ROWS:
        table["left_out"] = f"{len(rows) - MOST_ROWS} more rows"
    return json.dumps(table, ensure_ascii=False)
