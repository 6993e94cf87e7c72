"""The shell: one page a lab at a URL of its own, the navigation in chapters, the picker on each."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache, partial
from typing import Any

import gradio as gr
from markupsafe import Markup
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from explorer.engine.protocol import Engine
from explorer.home import HOME
from explorer.labs import CHAPTERS, LABS, Lab
from explorer.reference import Reference, all_of
from explorer.settings import Settings, settings
from explorer.ui import links, serving, sessions
from explorer.ui.class_door import ClassDoor
from explorer.ui.closing import Closing
from explorer.ui.components import ASSETS, head_scripts, notice_place, theme
from explorer.ui.documented import DocumentedPages
from explorer.ui.entry import Entry
from explorer.ui.front_door import FrontDoor
from explorer.ui.frontend import FOR_A_DAY, STYLE_NAME, KeptAssets, dressed, serve_plotly, serve_style
from explorer.ui.gone import Gone
from explorer.ui.kept_pages import KeptPages
from explorer.ui.limits import Limits
from explorer.ui.links import LinkingPages, Links
from explorer.ui.notices import NoticingPages
from explorer.ui.page import Page
from explorer.ui.picker import Picker
from explorer.ui.policy import inline_scripts, page_policy
from explorer.ui.refusal import Refusal
from explorer.ui.streams import StreamingPages
from explorer.ui.uploads import Uploads

TITLE = "BERT Explorer"

FILES_KEPT = (3600, 24 * 3600)
"""Files that visitors brought or were handed: looked through every hour, removed after a day (seconds)."""


class _Pages(DocumentedPages, NoticingPages, StreamingPages, LinkingPages):
    """Pages in one Blocks, which are described once, when they are served.

    Gradio builds a server and describes all components after every page (`Blocks.route`), and twice more at the launch.
    """

    exited = False

    @property
    def references(self) -> dict[str, Reference]:  # type: ignore[override]
        """What each action does, takes and gives."""
        return all_of(action for lab in LABS for action in lab.actions)

    def get_config_file(self) -> Any:
        """As Gradio's, but for pages that are still being built."""
        return super().get_config_file() if self.exited else {}

    async def preprocess_data(self, block_fn: Any, inputs: list[Any], *rest: Any, **named: Any) -> Any:
        """As Gradio's; a client that knows fewer parameters of an endpoint than there are now gets the last by default.

        What a component cannot take is said in a sentence: Gradio's own answer to it is an error without words.
        """
        if block_fn.api_visibility == "public":
            inputs = [*inputs, *(component.value for component in block_fn.inputs[len(inputs) :])]
        try:
            return await super().preprocess_data(block_fn, inputs, *rest, **named)
        except gr.Error:
            raise
        except Exception as error:
            raise Refusal(_no_value(block_fn, error)) from None

    def turn_to(self, lab: Lab) -> None:
        """What is built from now on stands on another page; as `route`, but inside the one context."""
        self.pages.append((lab.slug, lab.title, True))
        self.current_page = lab.slug

    def launch(self, *given: Any, **options: Any) -> Any:
        """As Gradio's; no more is built from then on, so that one description of the components does.

        What the actions do is read now: with two threads that parse at once, Python 3.11 fails.
        """
        assert self.references
        self.default_config.get_config = cache(self.default_config.get_config)  # type: ignore[method-assign]
        return super().launch(*given, **options)


def _no_value(block_fn: Any, error: Exception) -> str:
    """The sentence for values that a component of an event refuses."""
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


def build_app(engine: Engine) -> gr.Blocks:
    """All pages as one Gradio app; nothing heavy is imported and no model is loaded."""
    sessions.install()
    links.install()
    serving.install()
    app = _Pages(title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=FILES_KEPT)
    with app:
        _build_page(app, HOME, engine)
        for lab in LABS:
            app.turn_to(lab)
            _build_page(app, lab, engine)
    return app


def _build_page(app: gr.Blocks, lab: Lab, engine: Engine) -> None:
    gr.HTML(str(navigation(lab)), elem_classes=["top"], js_on_load=_navigating())
    with gr.Row(elem_classes=["headline"]):
        gr.HTML(str(heading(lab)), elem_classes=["question"])
        with gr.Column(scale=1, min_width=260, elem_classes=["card-line"]):
            picker = Picker(engine)
            picker.lay_out_card()
    picker.lay_out_note()
    notice = notice_place()
    page = Page(engine, lab, picker.model, notice, *picker.wire(app, notice))
    module, name = lab.tab.split(":")
    before = len(app.fns)
    getattr(importlib.import_module(module), name)(page)
    if lab is not HOME and not _asks_for(picker.model, list(app.fns.values())[before:]):
        picker.hide()


def _asks_for(model: gr.Dropdown, events: Iterable[Any]) -> bool:
    """Whether any event of a page reads its choice of a model."""
    return any(model in event.inputs for event in events)


def heading(lab: Lab) -> Markup:
    """The page's title and the question that it answers."""
    return Markup('<h1 id="content" tabindex="-1">{}</h1><p>{}</p>').format(lab.title, lab.question)


def navigation(current: Lab) -> Markup:
    """Links to every lab, grouped in chapters; relative, so that they work behind any path prefix.

    A chapter's labs stand below its name where the window is wide enough for all of them, and open as a menu where it is not.
    """
    groups = Markup("")
    for number, chapter in enumerate(CHAPTERS):
        labs = [lab for lab in LABS if lab.chapter == chapter]
        links = Markup("").join(_link(lab, current) for lab in labs)
        if labs:
            groups += _CHAPTER.format(chapter, f"chapter-{number}", links)
    skip = Markup('<a class="skip" href="{}#content">Skip to the page</a>').format(current.slug or "./")
    home = Markup('<a class="brand" href="./">{}</a>').format(TITLE)
    return Markup('{}<nav aria-label="Chapters">{}{}</nav>').format(skip, home, groups)


_CHAPTER = Markup(
    '<span class="chapter"><span class="chapter-name">{0}</span>'
    '<button type="button" class="chapter-menu" aria-expanded="false" aria-controls="{1}">{0}</button>'
    '<span class="chapter-labs" id="{1}">{2}</span></span>'
)
"""The name where the labs stand below it, and the button where they are a menu: the style shows one of the two."""


def _link(lab: Lab, current: Lab) -> Markup:
    here = Markup(' aria-current="page"') if lab is current else Markup("")
    return Markup('<a href="{}"{}>{}<small>{}</small></a>').format(lab.slug, here, lab.title, lab.question)


@cache
def _navigating() -> str:
    return (ASSETS / "navigation.js").read_text(encoding="utf-8")


KEPT_FOR_A_DAY = {"content-encoding": "gzip", "cache-control": FOR_A_DAY, "vary": "accept-encoding"}


def _serve_attention_view(request: Request) -> Response:
    """The document in which bertviz draws, without data; its address changes with each version."""
    from explorer.labs.attention.views.document import compressed_template

    return Response(compressed_template(), media_type="text/html", headers=KEPT_FOR_A_DAY)


def _serve_line(engine: Engine, request: Request) -> Response:
    """What waits before a question that a page asked `ago` seconds before; assets/page.js says it on the figure that waits."""
    try:
        ago = float(request.query_params.get("ago", "0"))
    except ValueError:
        return Response("ago must be a number of seconds", status_code=400)
    return JSONResponse(asdict(engine.line(ago)))


def _style() -> str:
    """The shell's style, then what single labs add."""
    files = [ASSETS / "style.css", *sorted((ASSETS / "labs").glob("*.css"))]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _policy_of(page: str, sites: str) -> str:
    """A page's Content-Security-Policy: Gradio adds the head's scripts, and the attention page a document with its own."""
    from explorer.labs.attention.views.document import template

    return page_policy(page, [*inline_scripts(head_scripts()), *inline_scripts(template())], sites)


def _passed(engine: Engine, chosen: Settings, uploads: Uploads) -> list[Middleware]:
    """What every request passes, in this order."""
    entry, sites = Entry(chosen.class_password), chosen.frame_ancestors
    pages = ["/", *(f"/{lab.slug}" for lab in LABS)]
    return [
        Middleware(FrontDoor, is_lecturer=engine.runs.is_lecturer, entry=entry, sites=sites, hosts=chosen.hosts),
        Middleware(ClassDoor, entry=entry, sites=sites),
        Middleware(Limits, settings=chosen, uploads=uploads),
        Middleware(Closing),
        Middleware(Gone),
        Middleware(KeptAssets),
        Middleware(KeptPages, paths=pages, dressed=dressed, policy=partial(_policy_of, sites=sites)),
    ]


def launch_options(engine: Engine, chosen: Settings | None = None) -> dict[str, Any]:
    """What the app's launch needs beside host and port; `chosen` is this process's settings where it is not given."""
    chosen = chosen or settings()
    uploads = Uploads(chosen)
    return {
        "password": chosen.class_password,
        "links": Links(chosen, uploads),
        "theme": theme(),
        "css": _style(),
        "head": head_scripts(),
        "footer_links": ["api", "settings"],
        "ssr_mode": False,
        "enable_monitoring": False,
        "max_file_size": chosen.upload_bytes,
        "state_session_capacity": sessions.MOST_SESSIONS,
        "app_kwargs": {
            "middleware": _passed(engine, chosen, uploads),
            "routes": [
                Route("/explorer/plotly.min.js", serve_plotly),
                Route(f"/{STYLE_NAME}", serve_style),
                Route("/explorer/attention-view.html", _serve_attention_view),
                Route("/explorer/line", partial(_serve_line, engine)),
            ],
        },
        "favicon_path": str(ASSETS / "icon.svg"),
    }
