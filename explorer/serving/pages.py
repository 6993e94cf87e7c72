"""All pages as one Gradio app: how it is built, how a question's values are read, and what the launch does once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import gradio as gr

from explorer.reference import Reference
from explorer.serving.documented import DocumentedPages
from explorer.serving.links import LinkingPages
from explorer.serving.notices import NoticingPages
from explorer.serving.quiet_queue import QuietPages
from explorer.serving.refusal import Refusal
from explorer.serving.stream_diffs import StreamingPages


class Pages(DocumentedPages, NoticingPages, StreamingPages, LinkingPages, QuietPages):
    """Pages in one Blocks, which are described once, when they are served.

    Gradio 6.31 builds a server and describes all components after every page (`Blocks.route`), and twice more at the
    launch. explained: returns the references of all actions; it is called when somebody asks.
    """

    exited = False

    def __init__(self, explained: Callable[[], Mapping[str, Reference]], **options: Any) -> None:
        super().__init__(**options)
        self._explained = cache(explained)
        self.addresses: dict[str, Any] = {}
        """Each page's explorer.ui.address.Address, by its slug: what may stand in a link to it."""

    @property
    def references(self) -> Mapping[str, Reference]:  # type: ignore[override]
        """What each action does, takes and returns."""
        return self._explained()

    def get_config_file(self) -> Any:
        """Return Gradio's description of the pages; an empty one while pages are still being built."""
        return super().get_config_file() if self.exited else {}

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], *rest: Any, **named: Any) -> Any:
        """Read the inputs as Gradio does. Raises Refusal for what a component cannot take, since Gradio's own error for
        it has no words.
        """
        if block_fn.api_visibility == "public":
            # A client that knows fewer parameters than there are now gets the others by default.
            inputs = [*inputs, *(component.value for component in block_fn.inputs[len(inputs) :])]
        else:
            inputs = within_ends(block_fn.inputs, inputs, rest[0] if rest else named.get("state") or {})
        try:
            return await super().preprocess_data(block_fn, inputs, *rest, **named)
        except gr.Error:
            raise
        except Exception as error:
            raise Refusal(_no_value(block_fn, error)) from None

    def turn_to(self, slug: str, title: str) -> None:
        """Put what is built from now on onto another page, as `route` does, but inside the one context."""
        self.pages.append((slug, title, True))
        self.current_page = slug

    def launch(self, *given: Any, **options: Any) -> Any:
        """Launch as Gradio does. No more is built from then on, so one description of the components is enough."""
        assert self.references  # read now: with two threads that parse at once, Python 3.11 fails
        self.default_config.get_config = cache(self.default_config.get_config)  # type: ignore[method-assign]
        return super().launch(*given, **options)


def within_ends(components: Sequence[Any], values: Sequence[Any], state: Any) -> list[Any]:
    """Return a page's values, those of sliders between their ends: one that was on its way when another model moved the ends
    becomes the nearest, where Gradio would refuse it.

    state: a session's components by their ids, where they differ from those of the page.
    """
    read = list(values)
    for place, (component, value) in enumerate(zip(components, values, strict=False)):
        if isinstance(component, gr.Slider) and isinstance(value, int | float):
            ends = state[component._id] if component._id in state else component  # noqa: SIM401 (a session has no get)
            read[place] = min(max(value, ends.minimum), ends.maximum)
    return read


def _no_value(block_fn: Any, error: Exception) -> str:
    """Return the message for values that a component of an event refuses."""
    logging.getLogger("explorer").warning("%s was sent what it cannot read: %.300s", block_fn.api_name, error)
    if any(isinstance(component, gr.File) for component in block_fn.inputs):
        return (
            "The file must be one that was uploaded to this server: choose it on the page, or hand it over by "
            "gradio_client's handle_file."
        )
    return (
        "One of the values is of a type that cannot be read here. The API page (its link is at the foot of each page) "
        "names every parameter with its type."
    )
