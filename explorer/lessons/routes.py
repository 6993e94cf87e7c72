"""The addresses at which browsers read lessons, and take part in a class."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from explorer.engine.protocol import Engine
from explorer.errors import BadInputError, ExplorerError, readable
from explorer.lessons.classes import AnsweredError, Classes, NoClassError, NotTheLecturerError
from explorer.lessons.hub import GATHER_SECONDS, WAIT_SECONDS, Hub
from explorer.lessons.paper import LOOPBACK, join_page, qr_code, reachable, sheet
from explorer.lessons.reading import bundled, checked, explained, read, written
from explorer.lessons.schema import Lesson, Step
from explorer.settings import ROOT, Settings

KEY = "x-explorer-key"
"""The header by which a lecturer's browser shows that it has opened a class."""

SCRIPTS = ROOT / "assets" / "lesson"
JOIN_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; base-uri 'self'"
)

STATUS: dict[type[ExplorerError], int] = {NoClassError: 404, NotTheLecturerError: 403, AnsweredError: 409}

Handler = Callable[[Hub, Request], Awaitable[Response]]


def lesson_routes(engine: Engine, chosen: Settings) -> list[Route]:
    """Return the routes of lessons and classes. The classes are kept in the data folder."""
    classes = Classes(chosen.data_folder / "classes.sqlite")
    classes.forget()
    hub = Hub(engine, classes)

    def route(path: str, handler: Handler, method: str = "GET") -> Route:
        return Route(path, _said(hub, handler), methods=[method])

    return [
        route("/explorer/lessons/check", _check, "POST"),
        route("/explorer/lessons/yaml", _yaml, "POST"),
        route("/explorer/lessons/truth", _truth, "POST"),
        route("/explorer/lessons/sheet", _sheet, "POST"),
        route("/explorer/lessons/{name}.json", _lesson),
        route("/explorer/lessons/{name}/sheet", _bundled_sheet),
        route("/explorer/join-code", _join_code),
        route("/explorer/lesson/{file}.js", _script),
        route("/join", _join_page),
        route("/explorer/class", _open, "POST"),
        route("/explorer/class/{code}/lesson", _lesson_of_class),
        route("/explorer/class/{code}/watch", _watch),
        route("/explorer/class/{code}/turn", _turn, "POST"),
        route("/explorer/class/{code}/answers.csv", _answers),
        route("/explorer/class/{code}/join", _join, "POST"),
        route("/explorer/class/{code}/step", _step),
        route("/explorer/class/{code}/answer", _answer, "POST"),
    ]


def _said(hub: Hub, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler with its errors as sentences that a page shows."""

    @wraps(handler)
    async def answered(request: Request) -> Response:
        try:
            answer = await handler(hub, request)
        except ExplorerError as error:
            answer = JSONResponse({"error": str(error)}, STATUS.get(type(error), 400))
        except Exception as error:
            answer = JSONResponse({"error": str(readable(error))}, 500)
        answer.headers.setdefault("cache-control", "no-store")
        return answer

    return answered


async def _body(request: Request) -> dict[str, Any]:
    try:
        data = await request.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise BadInputError("This must be sent as a JSON object.")
    return data


def _told(lesson: Lesson) -> dict[str, Any]:
    return lesson.model_dump(mode="json")


def _bundled(request: Request) -> Lesson:
    name = request.path_params["name"]
    if name not in bundled():
        raise NoClassError(f"There is no lesson {name[:40]!r}. The lessons are on the home page.")
    return bundled()[name]


async def _lesson(hub: Hub, request: Request) -> Response:
    return JSONResponse(_told(_bundled(request)))


async def _check(hub: Hub, request: Request) -> Response:
    """A lesson from its YAML, checked to the last address."""
    text = (await request.body()).decode("utf-8", "replace")
    return JSONResponse(_told(checked(read(text), _addresses(request))))


def _addresses(request: Request) -> Any:
    return request.app.get_blocks().addresses


async def _yaml(hub: Hub, request: Request) -> Response:
    lesson = checked(_from_browser(await _body(request)), _addresses(request))
    return PlainTextResponse(written(lesson), media_type="text/yaml")


def _from_browser(data: Any) -> Lesson:
    lesson: Lesson = _valid(Lesson, data)
    return lesson


def _valid(kind: Any, data: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        path, said = explained(error)
        where = " ".join(str(part + 1) if isinstance(part, int) else part for part in path)
        raise BadInputError(f"{where}: {said}.") from None


async def _truth(hub: Hub, request: Request) -> Response:
    """What the model says to a step."""
    return JSONResponse(await hub.told_truth(_valid(Step, await _body(request))))


async def _sheet(hub: Hub, request: Request) -> Response:
    data = await _body(request)
    return HTMLResponse(sheet(_from_browser(data.get("lesson")), str(data.get("at", "")), ""))


async def _bundled_sheet(hub: Hub, request: Request) -> Response:
    return HTMLResponse(sheet(_bundled(request), request.query_params.get("at", ""), request.path_params["name"]))


async def _join_code(hub: Hub, request: Request) -> Response:
    """The address at which phones reach this server, with its QR code. alone: no other machine reaches it."""
    address = reachable(request.query_params.get("text", ""))
    alone = urlsplit(address).hostname in LOOPBACK
    return JSONResponse({"address": address, "svg": qr_code(address), "alone": alone})


async def _script(hub: Hub, request: Request) -> Response:
    path = SCRIPTS / f"{request.path_params['file']}.js"
    if path not in set(SCRIPTS.glob("*.js")):
        raise NoClassError("There is no such script.")
    return Response(
        path.read_text(encoding="utf-8"), media_type="text/javascript", headers={"cache-control": "no-cache"}
    )


async def _join_page(hub: Hub, request: Request) -> Response:
    return HTMLResponse(join_page(), headers={"content-security-policy": JOIN_POLICY})


async def _open(hub: Hub, request: Request) -> Response:
    """Open a lesson for a class: a bundled one by its name, another as it is."""
    data = await _body(request)
    named = data.get("name")
    lesson = bundled().get(str(named)) if named else checked(_from_browser(data.get("lesson")), _addresses(request))
    if lesson is None:
        raise BadInputError(f"There is no lesson {str(named)[:40]!r}.")
    code, key = await asyncio.to_thread(hub.classes.open, lesson)
    hub.classes.forget()
    return JSONResponse({"code": code, "key": key})


async def _lesson_of_class(hub: Hub, request: Request) -> Response:
    code = await _lecturers(hub, request)
    return JSONResponse(_told((await asyncio.to_thread(hub.classes.state, code)).lesson))


def _code(request: Request) -> str:
    return str(request.path_params["code"]).upper()


async def _lecturers(hub: Hub, request: Request) -> str:
    """Return the code of the class that whoever asks has opened. Raises NotTheLecturerError, NoClassError."""
    code, key = _code(request), request.headers.get(KEY, "")
    if not await asyncio.to_thread(hub.classes.is_lecturer, code, key):
        raise NotTheLecturerError("Only the browser in which this class was opened can see that.")
    return code


async def _watch(hub: Hub, request: Request) -> Response:
    """Where the class is and what it says; held until that is news."""
    code = await _lecturers(hub, request)
    topic = f"{code} answers"
    await hub.news.after(topic, request.query_params.get("after", ""), WAIT_SECONDS)
    await asyncio.sleep(GATHER_SECONDS)
    now = hub.news.now(topic)
    return JSONResponse({"news": now, **await hub.for_lecturer(code)})


async def _turn(hub: Hub, request: Request) -> Response:
    data, code = await _body(request), _code(request)
    step, revealed = data.get("step"), data.get("revealed")
    if not isinstance(step, int) or not isinstance(revealed, bool):
        raise BadInputError("A turn names a step by its number, from 0, and whether its answer shows.")
    await asyncio.to_thread(hub.classes.turn, code, request.headers.get(KEY, ""), step, revealed)
    for topic in ("answers", "turns"):
        hub.news.tell(f"{code} {topic}")
    return JSONResponse(await hub.for_lecturer(code))


async def _answers(hub: Hub, request: Request) -> Response:
    """All answers of the class as CSV: a row for each, with the model's beside it."""
    code = await _lecturers(hub, request)
    state = await asyncio.to_thread(hub.classes.state, code)
    given = await asyncio.to_thread(hub.classes.answers, code)
    said = {
        number: (await hub.told_truth(state.lesson.steps[number])).get("said", "") for number in {g.step for g in given}
    }
    began = min((one.at for one in given), default=0.0)
    file = io.StringIO()
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(["step", "question", "student", "answer", "seconds", "model"])
    for one in given:
        texts = [_cell(text) for text in (state.lesson.steps[one.step].question, one.answer, said[one.step])]
        rows.writerow([one.step + 1, texts[0], one.number, texts[1], f"{one.at - began:.1f}", texts[2]])
    headers = {"content-disposition": f'attachment; filename="class-{code}.csv"'}
    return Response(file.getvalue(), media_type="text/csv", headers=headers)


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t") or (text[:1] == "-" and not _is_number(text)) else text


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("%"))
    except ValueError:
        return False
    return True


async def _join(hub: Hub, request: Request) -> Response:
    data, code = await _body(request), _code(request)
    name, number = await asyncio.to_thread(hub.classes.join, code, str(data.get("name", "")))
    if hub.saw(code, number):
        hub.news.tell(f"{code} answers")
    return JSONResponse({"name": name, "number": number})


async def _step(hub: Hub, request: Request) -> Response:
    """The student's question; held until there is another, or its answer shows."""
    code, name = _code(request), request.query_params.get("name", "")
    number = await asyncio.to_thread(hub.classes.number_of, code, name)
    if hub.saw(code, number):
        hub.news.tell(f"{code} answers")
    topic = f"{code} turns"
    await hub.news.after(topic, request.query_params.get("after", ""), WAIT_SECONDS)
    now = hub.news.now(topic)
    return JSONResponse({"news": now, **await hub.for_student(code, number)})


async def _answer(hub: Hub, request: Request) -> Response:
    data, code = await _body(request), _code(request)
    step = data.get("step")
    if not isinstance(step, int):
        raise BadInputError("An answer names its step by the number, from 0.")
    given = await asyncio.to_thread(hub.classes.answer, code, str(data.get("name", "")), step, data.get("answer", ""))
    hub.saw(code, given.number)
    hub.news.tell(f"{code} answers")
    return JSONResponse({"answer": given.answer})
