"""The list of every place of Gradio's inside that this app replaces or relies on: `python -m explorer.serving.patches`
after an upgrade.

It prints which of them the installed Gradio no longer has, or has with other parameters; only those modules need a
look. tests/ui/test_patches.py fails for a patch that Gradio no longer needs.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from dataclasses import dataclass

import gradio

WRITTEN_FOR = "6.31.0"
"""The Gradio for which all of it was written and tried."""


@dataclass(frozen=True)
class Patch:
    """A module's patch. without: what goes wrong in Gradio as it is. upstream: where that is discussed, or that nobody
    has. targets: what is replaced, overridden or called of Gradio's inside, each with its parameters.
    """

    where: str
    without: str
    upstream: str
    targets: dict[str, str]


NOT_REPORTED = "No issue of Gradio's speaks of it (searched on 26 November 2026)."

PATCHES = (
    Patch(
        "sessions.py",
        "Each new session describes every component of every page: 0.39 s of processor time and 3.2 MB.",
        "Came with gradio-app/gradio#8030; #11202 is about the copy that deep links need.",
        {
            "gradio.routes:StateHolder": "",
            "gradio.route_utils:SessionState": "",
            "gradio.state_holder:SessionState._update_config": "self, key",
            "gradio.state_holder:SessionState._update_value_in_config": "self, key, value",
            "gradio.state_holder:StateHolder.update": "self, session_id",
            "gradio.blocks:BlocksConfig": "root_block",
            "gradio.blocks:BlocksConfig.config_for_block": "_id, rendered_ids, block, renderable",
        },
    ),
    Patch(
        "at_once.py",
        "Every value of a question goes to a worker thread and back: a fifth of the server's own work on a question.",
        "Came with gradio-app/gradio#13168, for files; #7796 proposed the opposite.",
        {
            "gradio.blocks:anyio.to_thread.run_sync": "",
            "gradio.components:Textbox.preprocess": "self, payload",
            "gradio.components:Textbox.postprocess": "self, value",
        },
    ),
    Patch(
        "no_stubs.py",
        "Each import reads the source of every component, to write type stubs for editors: half of the import's time.",
        "gradio-app/gradio#7791 and #11394 are about the length of the import, and speak of other parts of it.",
        {"gradio.component_meta:create_or_modify_pyi": "component_class, class_name, events"},
    ),
    Patch(
        "known_signatures.py",
        "Each component reads its class's signature, 7,000 times in all: a quarter of the time that the pages take to build.",
        "No issue of Gradio's speaks of it (searched on 28 November 2026).",
        {"gradio.component_meta:inspect.getfullargspec": "", "gradio.component_meta:updateable": "fn"},
    ),
    Patch(
        "quiet_queue.py",
        "After every stream the last 10,000 events become a table, 15 to 25 ms of processor time; an idle server looks for "
        "them a thousand times a second.",
        "No issue of Gradio's speaks of it (searched on 28 November 2026).",
        {
            "gradio.blocks:Blocks.queue": "",
            "gradio.queueing:Queue.compute_analytics_summary": "self, records",
            "gradio.queueing:Queue._get_df": "records",
        },
    ),
    Patch(
        "closing.py",
        "A question that is put just as the session's stream ends is answered into no stream: the page waits for ever.",
        "gradio-app/gradio#7921 and #10342 were other cases of it, both mended.",
        {},
    ),
    Patch(
        "frontend.py",
        "Each question tells every answered part of the page how it stands, a part that goes while it waits counts on, and a "
        "page that opens seeks each part in every event. The texts are in deploy/frontend.py (tests/ui/test_joined.py).",
        "No issue of Gradio's speaks of it (searched on 28 November 2026).",
        {},
    ),
    Patch(
        "gone.py",
        "A question whose asker closes its /call stream is often computed to its end (tests/ui/test_closed_page.py).",
        "gradio-app/gradio#6239, mended for browsers' pages; #13761 proposes the opposite for connections that drop.",
        {
            "gradio.queueing:Queue.clean_events": "self, session_hash, event_id",
            "gradio.utils:set_task_name": "task, session_hash, fn_index, event_id, batch",
        },
    ),
    Patch(
        "stream_diffs.py",
        "Lists in lists that become shorter together are cut at wrong places, and an update that was not drawn is changed.",
        "gradio-app/gradio#11147 mended it for one list.",
        {
            "gradio.blocks:Blocks.handle_streaming_diffs": (
                "self, block_fn, data, session_hash, run, final, simple_format"
            )
        },
    ),
    Patch(
        "server.py",
        "The launch gives up where the first page takes 3 s or the server 5 s to begin, and connections end after 5 quiet s.",
        "gradio-app/gradio#8671 and #9817.",
        {
            "gradio.networking:url_ok": "url",
            "gradio.http_server:Server": "config, reloader, watchfn",
            "gradio.http_server:Server.run_in_thread": "self",
            "gradio.exceptions:ServerFailedToStartError": "",
        },
    ),
    Patch(
        "links.py",
        "A link in place of a file is fetched whole into memory, without a limit.",
        NOT_REPORTED,
        {
            "gradio.processing_utils:async_ssrf_protected_download": "url, cache_dir",
            "gradio.processing_utils:async_ssrf_protected_get": "url",
            "gradio.processing_utils:ssrf_protected_download": "url, cache_dir",
            "gradio.processing_utils:save_url_to_cache": "url, cache_dir",
            "gradio.processing_utils:unsafe_download": "url, cache_dir",
            "gradio_client.utils:strip_invalid_filename_characters": "filename, max_bytes",
        },
    ),
    Patch(
        "limits.py",
        "Nothing asks how full the disk is to which uploads go.",
        NOT_REPORTED,
        {"gradio.utils:get_upload_folder": ""},
    ),
    Patch(
        "pages.py",
        "Every page that is added builds a server and describes all components; a value of a wrong type fails without words.",
        "gradio-app/gradio#10433 brought the pages, #13843 made them quicker to visit and not to build.",
        {
            "gradio.blocks:Blocks.get_config_file": "self",
            "gradio.blocks:Blocks.preprocess_data": "self, block_fn, inputs, state, explicit_call",
            "gradio.blocks:BlocksConfig.get_config": "self, renderable",
        },
    ),
    Patch(
        "kept_pages.py",
        "A page's description is copied and written anew at each request: 26 to 70 ms of processor time.",
        "gradio-app/gradio#8570; #13843 leaves out the other pages' components.",
        {},
    ),
    Patch(
        "notices.py",
        "An answer that comes late takes away a refusal that came after its question.",
        "Of this app's own making: there is one place for all notices of a page.",
        {
            "gradio.blocks:Blocks.process_api": (
                "self, block_fn, inputs, state, request, iterator, session_hash, event_id, event_data, in_event_listener, "
                "simple_format, explicit_call, root_path, oauth_token"
            ),
            "gradio.blocks:Blocks.postprocess_data": "self, block_fn, predictions, state",
        },
    ),
    Patch(
        "documented.py",
        "Parameters have no description on the API page, and an assistant is handed a page's drawings beside the table.",
        "gradio-app/gradio#10984 and #11385 are about descriptions of tools as a whole.",
        {
            "gradio.blocks:Blocks.get_api_info": "self, all_endpoints, page",
            "gradio.mcp:GradioMCPServer.get_fn_description": "self, block_fn, tool_name",
            "gradio.mcp:GradioMCPServer.convert_strings_to_filedata": "self, value, filedata_positions",
            "gradio.mcp:GradioMCPServer.postprocess_output_data": "self, data, root_url",
            "gradio.mcp:GradioMCPServer._get_or_create_client": "self",
        },
    ),
    Patch(
        "front_door.py",
        "Every site may read answers, and send questions for a visitor, where the server is not called localhost; monitoring, "
        "recordings, proxies and other servers' files are open to everybody.",
        NOT_REPORTED,
        {"gradio.routes:CustomCORSMiddleware": "app, strict_cors, parent_app"},
    ),
    Patch(
        "refusal.py",
        "An error's sentence comes in quotes, as Python would print it.",
        NOT_REPORTED,
        {"gradio.exceptions:Error": "message, duration, visible, title, print_exception"},
    ),
)


def misfit(target: str, parameters: str) -> str:
    """Return how a target differs from what the patch assumes, in a sentence; "" if it fits."""
    module, _, path = target.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except ModuleNotFoundError as error:
        # assistants' tools are served only where their library is installed
        return "" if error.name == "mcp" else f"{target}: {error}"
    except AttributeError as error:
        return f"{target}: {error}"
    if not parameters or not callable(found):
        return ""
    now = ", ".join(inspect.signature(found).parameters)
    return "" if now == parameters else f"{target} takes ({now}), and was written for ({parameters})"


def broken() -> dict[str, list[str]]:
    """Return what does not fit the installed Gradio, by the module that patches it."""
    found = {
        patch.where: [said for target, parameters in patch.targets.items() if (said := misfit(target, parameters))]
        for patch in PATCHES
    }
    return {where: said for where, said in found.items() if said}


def main() -> int:
    """Print what does not fit. Returns 1 if anything does not."""
    print(f"Gradio {gradio.__version__}; explorer/serving/ was written for {WRITTEN_FOR}.")
    found = broken()
    for where, said in found.items():
        print(f"{where}: {'; '.join(said)}")
    print(f"{len(PATCHES) - len(found)} of {len(PATCHES)} patches fit.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
