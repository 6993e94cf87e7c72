"""What is handed out: QR codes, the printed sheet of a lesson, and the page on which students answer."""

from __future__ import annotations

import io
import socket
from urllib.parse import quote, urlsplit, urlunsplit

import segno
from markupsafe import Markup

from explorer.errors import BadInputError
from explorer.lessons.schema import Lesson, Step
from explorer.settings import ROOT, settings

LONGEST_CODED = 1_200
"""Characters of an address in a QR code that a phone still reads off paper."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def reachable(address: str) -> str:
    """Return an address by which phones reach this server: this machine's in its network for one that leads nowhere else."""
    parts = urlsplit(address)
    if parts.hostname not in LOOPBACK or settings().server_name in LOOPBACK:
        return address
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{_own_name()}{port}"))


def _own_name() -> str:
    """Return this machine's address in its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))  # for documentation alone (RFC 5737); to connect by UDP sends nothing
        except OSError:
            return LOOPBACK[0]
        return str(asked.getsockname()[0])


def qr_code(text: str) -> str:
    """Return a QR code as SVG. Raises BadInputError for what is no address, or too long."""
    if urlsplit(text).scheme not in ("http", "https"):
        raise BadInputError("A code can be made of an address that begins with http:// or https://.")
    if len(text) > LONGEST_CODED:
        raise BadInputError(f"A code holds an address of {LONGEST_CODED} characters at most.")
    file = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        file, kind="svg", xmldecl=False, scale=4, border=2, dark="#000", light="#fff", omitsize=True
    )
    return file.getvalue().decode()


_SHEET_STYLE = """
:root { font: 16px/1.45 system-ui, sans-serif; color: #111; background: #fff; }
body { max-width: 46rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; }
.step { display: grid; grid-template-columns: 1fr 8.5rem; gap: .2rem 1.2rem; border-top: 1px solid #999; }
.step { padding: .9rem 0; break-inside: avoid; }
.step svg { width: 8.5rem; height: 8.5rem; grid-row: 1 / span 2; grid-column: 2; }
h2 { font-size: 1.1rem; margin: 0 0 .2rem; }
p { margin: .2rem 0; }
.question { font-weight: 600; }
.line { border-bottom: 1px solid #555; height: 1.8rem; margin-top: .3rem; }
.note { color: #444; font-style: italic; }
.where { font-size: .8rem; color: #444; overflow-wrap: anywhere; }
ul { list-style: none; padding: 0; margin: .3rem 0; }
li::before { content: "☐ "; }
@media print { body { margin: 0; max-width: none; } .print { display: none; } }
"""

_PAGE = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head><body>{body}</body></html>'
)


def sheet(lesson: Lesson, at: str, name: str) -> str:
    """Return a lesson as a page to print: each step with its question, room for the answer, and a QR code of its view.

    at: the address of the app, as the browser has it. name: of a bundled lesson, whose steps have short addresses.
    """
    if urlsplit(at).scheme not in ("http", "https") or len(at) > 300:
        raise BadInputError("A sheet needs the app's own address, which begins with http:// or https://.")
    base = reachable(at.partition("#")[0].partition("?")[0].rsplit("/", 1)[0] + "/")
    steps = Markup("").join(_step(number, step, base, name) for number, step in enumerate(lesson.steps, start=1))
    head = Markup("<h1>{}</h1><p>{}</p><p>{} minutes, {} steps.</p>").format(
        lesson.title, lesson.about, lesson.minutes, len(lesson.steps)
    )
    return str(_PAGE.format(title=lesson.title, style=Markup(_SHEET_STYLE), body=head + steps))


def _step(number: int, step: Step, base: str, name: str) -> Markup:
    address = base + (f"#lesson={name}&lesson_step={number}" if name else quote(step.at, safe="#?&=/%+,.:-_~"))
    code = Markup(qr_code(address)) if len(address) <= LONGEST_CODED else Markup("<span></span>")
    minute = f"{step.minute} min · " if step.minute is not None else ""
    parts = [Markup("<h2>{}{}. {}</h2>").format(minute, number, step.title)]
    if step.question:
        parts.append(Markup('<p class="question">{}</p>').format(step.question))
    if step.answer and step.answer.choices:
        choices = Markup("").join(Markup("<li>{}</li>").format(one) for one in step.answer.choices)
        parts.append(Markup("<ul>{}</ul>").format(choices))
    elif step.answer:
        parts.append(Markup('<div class="line"></div>'))
    where = Markup('<p class="where">{}</p>').format(address if len(address) < 160 else step.at)
    return Markup('<section class="step"><div>{}</div>{}{}</section>').format(Markup("").join(parts), code, where)


def join_page() -> str:
    """Return the page on which students join a class and answer; assets/lesson/join.js does the rest."""
    folder = ROOT / "assets" / "lesson"
    style = "\n".join((folder / name).read_text(encoding="utf-8") for name in ("join.css", "answers.css"))
    body = Markup(
        '<main id="class" aria-live="polite"></main><script type="module" src="explorer/lesson/join.js"></script>'
    )
    return str(_PAGE.format(title="BERT Explorer: your class", style=Markup(style), body=body))
