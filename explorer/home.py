"""The front page: a blank that fills itself, and three ways on from it."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from explorer import ledger
from explorer.action import Reads
from explorer.labs import Lab
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking import fill_figures as figures
from explorer.labs.masking.fill_said_figures import fill_sentence
from explorer.labs.masking.schema import EXAMPLES
from explorer.labs.models.family_figures import letters
from explorer.labs.wayup import WHOLE_PASS
from explorer.labs.wayup.picture_page import WayUp
from explorer.lessons.reading import address_of, bundled
from explorer.lessons.schema import Lesson
from explorer.models.families import Capability
from explorer.path import PATH
from explorer.ui.hiding import hidden_now, keep_hidden, open_with, pressed_positions
from explorer.ui.kit import sentence_place
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

EXAMPLE = EXAMPLES[0]

BERT_IS = Markup(
    '<p class="bert-is">It reads a whole text at once and so has both sides of every word in view. It learned a language '
    "by naming words that were hidden from it, and is then adapted to a task.</p>"
)

HOME = Lab(
    slug="",
    title="See how BERT reads",
    chapter="",
    question="Press any word: BERT guesses it from the rest.",
    teaser="",
    needs=Capability.MLM,
    reads=Reads("text", "hidden"),
    actions=(),
    tab="explorer.home:build",
)


def build(page: Page) -> None:
    """Lay out one sentence, its tokens and the guesses; below, three ways in."""
    text = gr.Textbox(EXAMPLE.text, show_label=False, container=False, lines=1, max_lines=3, elem_id="home-text")
    hidden = gr.Textbox("", visible="hidden", label="also_mask")
    top_k = gr.Number(5, visible=False, label="top_k")
    said = sentence_place("home-said")
    way = WayUp("home")
    folded, of_way = folds(FILL_MASKS), folds(WHOLE_PASS, "the way up")
    gr.HTML(str(letters() + BERT_IS))
    gr.HTML(str(ways()), elem_classes=["home-ways"])

    inputs = {"text": text, "top_k": top_k, "also_mask": hidden}
    shown = [(said, fill_sentence), (way.chips, figures.fill_chips), (hidden, hidden_now)]
    # publish=False: the endpoints are those of Masking and of Way up.
    fill = Connection(page, FILL_MASKS, inputs, shown, folded, publish=False)
    fill.on(way.chips.select, read=pressed_positions)
    changes = [text.submit, *open_with(page, EXAMPLE.text, EXAMPLE.hidden, text, hidden)]
    keep_hidden(fill, way.chips, *changes)
    way.connect(page, text, hidden, [], of_way, changes, publish=False)


def ways() -> Markup:
    """Return the three ways in: a path for those who are new, two for those who teach, and a map."""
    return Markup('<div class="ways">{}{}{}</div>').format(
        _way("I am new", "ten questions, each opened by the one before", _new(), is_open=True),
        _way("I teach", "lessons of 10 to 15 minutes, of 45, and of 90", _teach()),
        _way("I know BERT", "all pages and tabs", Markup('<div class="map" data-map></div>')),
    )


def _way(title: str, about: str, inside: Markup, is_open: bool = False) -> Markup:
    mark = Markup(" open") if is_open else Markup("")
    return Markup("<details{}><summary>{}<small>{}</small></summary>{}</details>").format(mark, title, about, inside)


def _new() -> Markup:
    lines = Markup("").join(
        Markup('<li><a href="{}">{}</a><small>{}</small></li>').format(one.to or "./", one.question, one.leaves)
        for one in PATH
    )
    return Markup('<ol class="stations">{}</ol>{}').format(lines, ledger.whole(EXAMPLE.text))


def _teach() -> Markup:
    """Return the lessons, then the two paths with their minutes; assets/lesson/list.js makes the buttons work."""
    lessons = bundled()
    timed = {name: one for name, one in lessons.items() if one.steps[0].minute is not None}
    single = Markup("").join(_lesson(name, one) for name, one in lessons.items() if name not in timed)
    paths = Markup("").join(
        Markup('<div><ul class="lessons">{}</ul>{}</div>').format(_lesson(name, one), _timed(name, one))
        for name, one in timed.items()
    )
    note = "Each step asks before the model answers. Alone, or with a class that answers on its phones."
    return Markup(
        '<div data-lessons><p class="caption">{}</p><ul class="lessons">{}</ul><div class="two-lists">{}</div>'
        '<div class="lesson-own"></div></div>'
    ).format(note, single, paths)


def _lesson(name: str, lesson: Lesson) -> Markup:
    to = address_of(lesson.steps[0].at, name, 1)
    does = Markup('<a href="{}">Open</a>{}').format(
        to,
        Markup("").join(
            Markup('<button type="button" class="lesson-plain" data-{}="{}">{}</button>').format(what, name, label)
            for what, label in (("class", "With a class"), ("sheet", "Print"))
        ),
    )
    line = '<li><b>{}</b> <small>{} min, {} questions</small><p>{}</p><div class="lesson-does">{}</div></li>'
    return Markup(line).format(lesson.title, lesson.minutes, len(lesson.steps), lesson.about, does)


def _timed(name: str, lesson: Lesson) -> Markup:
    """Return a path's steps as a list, each with its minute."""
    line = Markup('<li><span class="minute">{} min</span><a href="{}">{}</a></li>')
    lines = Markup("").join(
        line.format(step.minute, address_of(step.at, name, number), step.title)
        for number, step in enumerate(lesson.steps, start=1)
    )
    return Markup('<ul class="stations">{}</ul>').format(lines)
