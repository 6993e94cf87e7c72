"""The shell: one page for each lab at a URL of its own, the navigation in chapters, the picker on each."""

from __future__ import annotations

import hashlib
import importlib
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

from explorer import ledger
from explorer.engine.protocol import Engine
from explorer.errors import readable
from explorer.home import HOME
from explorer.labs import CHAPTERS, LABS, Lab
from explorer.lessons.routes import lesson_routes
from explorer.navigation import lay_out_feet, pages_and_tabs
from explorer.path import PLACES, Place
from explorer.reference import Reference, all_of
from explorer.serving import at_once, front_door, known_signatures, links, server, sessions
from explorer.serving.class_door import ClassDoor, Entry
from explorer.serving.closing import Closing
from explorer.serving.front_door import FrontDoor
from explorer.serving.frontend import (
    FOR_A_DAY,
    FOR_EVER,
    STYLE_NAME,
    KeptAssets,
    dressed,
    font_faces,
    packed_answer,
    serve_font,
    serve_plotly,
    serve_style,
)
from explorer.serving.gone import Gone
from explorer.serving.kept_pages import KeptPages
from explorer.serving.limits import Limits, Uploads
from explorer.serving.link_preview import serve_picture, with_preview
from explorer.serving.links import Links
from explorer.serving.pages import Pages
from explorer.serving.policy import inline_scripts, page_policy
from explorer.settings import Settings, settings
from explorer.tab import Tab
from explorer.ui.address import Address
from explorer.ui.components import ASSETS, notice_place, page_script, theme
from explorer.ui.page import Page
from explorer.ui.picker import Picker
from explorer.ui.tabs import build_tabs
from explorer.ui.take_home import lay_out_take_home

TITLE = "BERT Explorer"
SAYS = "See how the BERT family works: hide a word, and watch the guess form layer by layer."

MISSING_WORDS = {"common.complete": "Done"}
"""What Gradio 6.31 says to a screen reader after each question, by the name for which its own language files have no word."""

FILES_KEPT = (3600, 24 * 3600)
"""Seconds: how often the files that visitors brought or were handed are looked through, and the age at which they are
removed.
"""


def _references() -> dict[str, Reference]:
    """Return what each action does, takes and returns."""
    return all_of(action for lab in LABS for action in lab.actions)


def build_app(engine: Engine) -> Pages:
    """Build all pages as one Gradio app; nothing heavy is imported and no model is loaded."""
    known_signatures.install()
    sessions.install()
    at_once.install()
    links.install()
    front_door.install()
    server.install()
    app = Pages(_references, title=TITLE, analytics_enabled=False, fill_width=True, delete_cache=FILES_KEPT)
    with app:
        app.addresses[HOME.slug] = _build_page(app, HOME, engine)
        for lab in LABS:
            app.turn_to(lab.slug, lab.title)
            app.addresses[lab.slug] = _build_page(app, lab, engine)
    return app


def _build_page(app: gr.Blocks, lab: Lab, engine: Engine) -> Address:
    gr.HTML(str(navigation(lab)), elem_classes=["top"], js_on_load=_navigating())
    with gr.Row(elem_classes=["headline"]):
        gr.HTML(str(heading(lab)), elem_classes=["question"])
        with gr.Column(scale=1, min_width=260, elem_classes=["card-line"]):
            picker = Picker(engine)
            picker.lay_out_card()
    picker.lay_out_note()
    notice = notice_place()
    address = Address()
    page = Page(engine, lab, picker.model, notice, address.opened, picker.wire(notice))
    module, name = lab.tab.split(":")
    before = len(app.fns)
    tab = getattr(importlib.import_module(module), name)
    if isinstance(tab, Tab):
        build_tabs(page, tab)
    else:
        tab(page)
    if lab is not HOME and not _asks_for(picker.model, list(app.fns.values())[before:]):
        picker.hide()
    address.find(app, page)
    lay_out_feet(address, page, [HOME, *LABS])
    lay_out_take_home(app, address, page)
    address.wire(app, page, picker)
    return address


def _asks_for(model: gr.Dropdown, events: Iterable[Any]) -> bool:
    """Return whether any event of a page reads its choice of a model."""
    return any(model in event.inputs for event in events)


def heading(lab: Lab) -> Markup:
    """Return the page's title and the question that it answers."""
    return Markup('<h1 id="content" tabindex="-1">{}</h1><p>{}</p>').format(lab.title, lab.question)


def navigation(current: Lab) -> Markup:
    """Return a menu of pages for each chapter, and the map; links are relative, so that they work behind any path
    prefix.
    """
    groups = Markup("")
    for number, chapter in enumerate(CHAPTERS):
        labs = [lab for lab in LABS if lab.chapter == chapter]
        links = Markup("").join(_link(lab, current) for lab in labs)
        links = Markup("").join(_place(place) for place in PLACES if place.chapter == chapter) + links
        if labs:
            groups += _CHAPTER.format(chapter, f"chapter-{number}", links)
    skip = Markup('<a class="skip" href="{}#content">Skip to the page</a>').format(current.slug or "./")
    home = Markup('<a class="brand" href="./">{}</a>').format(TITLE)
    return Markup('{}<nav aria-label="Chapters">{}{}{}</nav>').format(skip, home, groups, _MAP)


_MAP = Markup(
    '<button type="button" class="map-open" aria-haspopup="dialog" title="Ctrl K">Find a page <kbd>Ctrl K</kbd></button>'
)
"""What opens the list of all pages and tabs (assets/map.js)."""

_CHAPTER = Markup(
    '<span class="chapter">'
    '<button type="button" class="chapter-menu" aria-expanded="false" aria-controls="{1}">{0}</button>'
    '<span class="chapter-labs" id="{1}">{2}</span></span>'
)
"""A chapter: the button that opens the menu of its pages."""


def _place(place: Place) -> Markup:
    return Markup('<a href="{}">{}<small>{}</small></a>').format(place.to, place.title, place.question)


def _link(lab: Lab, current: Lab) -> Markup:
    here = Markup(' aria-current="page"') if lab is current else Markup("")
    return Markup('<a href="{}"{}>{}<small>{}</small></a>').format(lab.slug, here, lab.title, lab.question)


@cache
def _navigating() -> str:
    return (ASSETS / "navigation.js").read_text(encoding="utf-8")


KEPT_FOR_A_DAY = {"content-encoding": "gzip", "cache-control": FOR_A_DAY, "vary": "accept-encoding"}


def _serve_attention_view(request: Request) -> Response:
    """Serve the document in which bertviz draws, without data; its address changes with each version."""
    from explorer.labs.attention.views_document import compressed_template

    return Response(compressed_template(), media_type="text/html", headers=KEPT_FOR_A_DAY)


def _serve_line(engine: Engine, request: Request) -> Response:
    """Serve what waits before a question that a page asked `ago` seconds before; assets/page.js shows it on the figure
    that waits.
    """
    try:
        ago = float(request.query_params.get("ago", "0"))
    except ValueError:
        return Response("ago must be a number of seconds", status_code=400)
    return JSONResponse(asdict(engine.line(ago)))


async def _serve_ledger(engine: Engine, request: Request) -> Response:
    """Serve one cell of the ledger, measured now. What is asked comes in the body, where no log has the sentence."""
    try:
        given = await request.json()
        return JSONResponse(await ledger.measured(engine, given["cell"], given["text"]))
    except (ValueError, TypeError, KeyError):
        return JSONResponse({"error": "The ledger is asked for a cell and a text."}, 400)
    except Exception as error:
        return JSONResponse({"error": str(readable(error))}, 422)


def _serve_map(request: Request) -> Response:
    """Serve the titles and addresses of all pages and tabs."""
    return JSONResponse([asdict(page) for page in pages_and_tabs(request.app.get_blocks().addresses)])


def _script_address() -> str:
    """Return the address of the pages' script, which has a hash of its contents, so that browsers keep it."""
    return f"explorer/page.js?{hashlib.sha256(page_script().encode()).hexdigest()[:12]}"


def _serve_script(request: Request) -> Response:
    """Serve the script that all pages have."""
    return packed_answer(request, page_script, "text/javascript", FOR_EVER)


def _dressed(page: str) -> str:
    """Return Gradio's page with our typefaces, and our script before all of Gradio's own, which it has to find in place."""
    page = with_preview(dressed(page), TITLE, SAYS)
    return page.replace("<head>", f'<head>{font_faces()}<script defer src="./{_script_address()}"></script>', 1)


def _style() -> str:
    """Return the shell's style, that of lessons, then what single labs add."""
    files = [ASSETS / name for name in ("style.css", "lesson.css", "lesson/answers.css")]
    files += sorted((ASSETS / "labs").glob("*.css"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _policy_of(page: str, sites: str) -> str:
    """Return a page's Content-Security-Policy: the attention page adds a document with scripts of its own."""
    from explorer.labs.attention.views_document import template

    return page_policy(page, inline_scripts(template()), sites)


def _passed(engine: Engine, chosen: Settings, uploads: Uploads) -> list[Middleware]:
    """Return the middleware that every request passes, in this order."""
    entry, sites = Entry(chosen.class_password), chosen.frame_ancestors
    pages = ["/", *(f"/{lab.slug}" for lab in LABS)]
    return [
        Middleware(FrontDoor, is_lecturer=engine.runs.is_lecturer, entry=entry, sites=sites, hosts=chosen.hosts),
        Middleware(ClassDoor, entry=entry, sites=sites),
        Middleware(Limits, settings=chosen, uploads=uploads),
        Middleware(Closing),
        Middleware(Gone),
        Middleware(KeptAssets),
        Middleware(KeptPages, paths=pages, dressed=_dressed, policy=partial(_policy_of, sites=sites)),
    ]


def launch_options(engine: Engine, chosen: Settings | None = None) -> dict[str, Any]:
    """Return what the app's launch needs besides host and port. chosen: the settings; this process's if None."""
    chosen = chosen or settings()
    uploads = Uploads(chosen)
    return {
        "password": chosen.class_password,
        "links": Links(chosen, uploads),
        "theme": theme(),
        "css": _style(),
        "footer_links": ["api", "settings"],
        "i18n": gr.I18n(en=MISSING_WORDS),
        "ssr_mode": False,
        "enable_monitoring": False,
        "max_file_size": chosen.upload_bytes,
        "state_session_capacity": sessions.MOST_SESSIONS,
        "app_kwargs": {
            "middleware": _passed(engine, chosen, uploads),
            "routes": [
                Route("/explorer/plotly.min.js", serve_plotly),
                Route("/explorer/page.js", _serve_script),
                Route("/explorer/fonts/{name}", serve_font),
                Route("/explorer/picture.png", serve_picture),
                Route(f"/{STYLE_NAME}", serve_style),
                Route("/explorer/attention-view.html", _serve_attention_view),
                Route("/explorer/map.json", _serve_map),
                Route("/explorer/ledger", partial(_serve_ledger, engine), methods=["POST"]),
                Route("/explorer/line", partial(_serve_line, engine)),
                *lesson_routes(engine, chosen),
            ],
        },
        "favicon_path": str(ASSETS / "icon.svg"),
    }
