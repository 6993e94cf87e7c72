"""Seeded calls of every endpoint with good, boundary and hostile values, drawn from what the app declares of its parameters."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from dataclasses import MISSING, dataclass
from typing import Any

import httpx

import explorer
from explorer.action import LiveAction
from explorer.kinds import Flag, Number, OneOf
from explorer.models.catalog import CATALOG
from explorer.reference import reference

HANG_SECONDS = 300.0
"""Far beyond what a busy machine needs: what takes longer hangs."""
NAMED = tuple(card.model_id for card in CATALOG)
"""With what a sentence may begin in small letters, beside a parameter's name and what was sent."""

LONG = "word " * 30_000
NESTED: Any = json.loads("[" * 60 + "]" * 60)
ODD: tuple[Any, ...] = (
    None, "", " ", "\n\t", [], {}, [[]], [[[1]]], {"a": 1}, [None], [{"a": []}], True, False, -1, 0, 0.5, 10**30, 1e308,
    math.nan, math.inf, -math.inf, "nan", "inf", "1e999", "-1", "0x10", "٣", "１２", "½", "\ud800", "a\udfffb", "\x00", "a\x00b",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "'; DROP TABLE runs; --", "../../../etc/passwd", "/etc/passwd",
    "/", ".", "~", "file:///etc/passwd", "{0.__class__}", "{name}", "%s%n", "${x}", "\u202eabc", "👩‍👩‍👧‍👦", "e\u0301" * 40,
    "\ufeff",
    "我們", "[MASK]", "[MASK] " * 200, "a" * 5000, LONG, ["a"] * 3000, [[0, 1]] * 3000, list(range(3000)), NESTED, "[" * 5000,
    "['a', 'b'", "[1, 2", "{", "null", "None", "true", ",,,", "a,b,,c", "*", "lecturer:", "lecturer:wrong", "lecturer:ü",
    "nobody/nothing", "no body/no thing", "-", "r000000000000", "r" * 4000, "example-lora-8", "example-nothing",
)  # fmt: skip
"""What nobody means, for any parameter."""

TEXTS = (
    "The cat [MASK] on the mat.",
    "It rained. We stayed.",
    "a",
    "Ünïcode 😀 [MASK].",
    "One. Two! Three?",
    "x " * 40,
)
GOOD_TEXTS = {
    "heads": ("", "0.0", [[0, 1]]), "matrix": ([[3, 1], [0, 2]], "[[3, 1], [0, 2]]"), "points": ([[0.5, 1], [4, 3.5], [2, 2]],),
    "visitor": ("", "mallory", "mallory"), "also_mask": ("", [1]), "branch": ("", [262]), "word": ("cat",),
    "other": ("dog",), "task": ("sst2", "rte", "stsb"), "beside": ("", "TINY"),
}  # fmt: skip
COSTLY = {
    "draws": 20, "epochs": 2, "examples": 8, "held_out": 8, "repeats": 2, "duplicates": 3, "tokens": 3, "seeds": 1, "steps": 2,
    "layers": 2, "hidden_size": 64, "hidden": 32, "sentences": 2, "vocabulary": 400, "batch": 2, "length": 16, "beams": 2,
    "train_between": 1, "k": 3, "batch_size": 8, "rows": 2,
}  # fmt: skip
"""The largest good value of what makes an answer take long; larger ones are sent with something that is refused."""

NO_NEWCOMER = re.compile(
    r"Traceback|<class|NoneType|object at 0x|site-packages|\bFile \"|\b[A-Z]\w+Error\b|Something went wrong|pydantic|"
    r"\bself\.|\bdict\b.*\bkey\b|not subscriptable|not iterable|unhashable|positional argument|Internal Server"
)
"""What no sentence for a visitor holds."""


@dataclass(frozen=True)
class Endpoint:
    """One endpoint as the app describes it. parameters: its name and kind (None where no action declares it) in order."""

    name: str
    parameters: tuple[tuple[str, Any, Any], ...]
    streams: bool
    trains: bool


@dataclass(frozen=True)
class Call:
    """What is sent: values in the endpoint's order."""

    endpoint: Endpoint
    values: list[Any]

    def __str__(self) -> str:
        said = {one[0]: value for one, value in zip(self.endpoint.parameters, self.values, strict=False)}
        shown = ", ".join(f"{name}={repr(value)[:70]}" for name, value in said.items())
        return f"{self.endpoint.name}({shown}) with {len(self.values)} values"


@dataclass(frozen=True)
class Reply:
    """What came back: the HTTP status, all of its text, and the error where it is one ('' else)."""

    status: int
    text: str
    error: str | None


def endpoints(client: httpx.Client) -> list[Endpoint]:
    """Every endpoint that the app publishes, with the declarations of its action."""
    info = client.get("/gradio_api/info").raise_for_status().json()["named_endpoints"]
    queued = {
        end["api_name"]: end["queue"] is not False
        for end in client.get("/config").raise_for_status().json()["dependencies"]
        if end["api_visibility"] == "public"
    }
    found = []
    for name, about in sorted(info.items()):
        action = explorer.actions().get(name[1:])
        declared = reference(action).parameters if action else {}
        parameters = tuple(
            (one["parameter_name"], declared.get(one["parameter_name"]), one.get("parameter_default"))
            for one in about["parameters"]
        )
        trains = isinstance(action, LiveAction)
        found.append(Endpoint(name[1:], parameters, queued[name[1:]], trains))
    return found


class Fuzzer:
    """Draws calls. tiny: a model that answers quickly; runs: ids that may be named, of this visitor's and of others'."""

    def __init__(self, seed: int, tiny: str, runs: list[str]) -> None:
        self._random = random.Random(seed)
        self._tiny, self._runs = tiny, runs

    def draw(self, endpoint: Endpoint) -> Call:
        """Mostly one or two odd values among good ones; sometimes good ones alone, sometimes too few or too many."""
        dice = self._random
        values = [self._good(*one) for one in endpoint.parameters]
        if values and dice.random() < 0.88:
            for place in dice.sample(range(len(values)), min(len(values), dice.choice((1, 1, 1, 2, 3)))):
                values[place] = self._odd(*endpoint.parameters[place])
        if dice.random() < 0.03:
            values = values[: dice.randrange(len(values) + 1)] if dice.random() < 0.5 else [*values, "more"]
        return Call(endpoint, values)

    def _good(self, name: str, parameter: Any, standard: Any) -> Any:
        dice, kind = self._random, getattr(parameter, "kind", None)
        if name in ("model", "base") and not isinstance(kind, OneOf):
            return self._tiny
        if name in ("models",):
            return [self._tiny]
        if name in ("run", "run_a", "run_b", "run_student", "teacher", "after"):
            return dice.choice(self._runs)
        if name == "runs":
            return [dice.choice(self._runs)]
        if name in GOOD_TEXTS:
            value = dice.choice(GOOD_TEXTS[name])
            return self._tiny if value == "TINY" else value
        if isinstance(kind, Number):
            return self._number(name, kind, standard)
        if isinstance(kind, OneOf) and dice.random() < 0.5:
            return dice.choice(kind.known)
        if isinstance(kind, Flag):
            return dice.random() < 0.5
        if isinstance(standard, str) and len(standard) > 12 and dice.random() < 0.5:
            return dice.choice(TEXTS)
        return standard if standard is not MISSING else None

    def _number(self, name: str, kind: Number, standard: Any) -> Any:
        dice, most = self._random, min(kind.most, COSTLY.get(name, kind.most))
        if most < kind.most or dice.random() < 0.4:
            least, most = max(kind.least, -1e3), min(most, 1e9)
            drawn = dice.choice((least, most, dice.uniform(least, min(most, least + 12))))
            drawn = drawn if kind.what == "a number" else int(drawn)
            return drawn + 1e-6 if kind.above and drawn == least else drawn
        return standard if standard is not MISSING else kind.least

    def _odd(self, name: str, parameter: Any, standard: Any) -> Any:
        dice, kind = self._random, getattr(parameter, "kind", None)
        drawn = dice.random()
        if isinstance(kind, Number) and drawn < 0.5:
            ends = [
                end for end in (kind.least - 1, kind.most + 1, kind.most + 0.5, kind.least - 1e-9) if math.isfinite(end)
            ]
            return dice.choice([*ends, str(standard), [standard], f"{standard}x", -0.0])
        if isinstance(kind, OneOf) and drawn < 0.4:
            one = dice.choice(kind.known)
            return dice.choice([one.upper(), one + " ", [one], one[:-1], {one: one}])
        if name.startswith("run") and drawn < 0.3:
            return dice.choice([*self._runs, ",".join(self._runs), self._runs])
        if name == "file" and drawn < 0.8:
            path = dice.choice(("/etc/passwd", "", "runs.sqlite", "\x00", "https://127.0.0.1:1/a.csv"))
            return {"path": path, "meta": {"_type": "gradio.FileData"}}
        return dice.choice(ODD)


def send(client: httpx.Client, call: Call, session: str) -> Reply:
    """Call an endpoint; of one that streams the first answer, since what it has begun ends when nobody listens."""
    body = json.dumps({"data": call.values, "session_hash": session})
    headers = {"content-type": "application/json"}
    if not call.endpoint.streams:
        return _replied(client.post(f"/gradio_api/run/{call.endpoint.name}", content=body, headers=headers))
    place = f"/gradio_api/call/{call.endpoint.name}"
    joined = client.post(place, content=body, headers=headers)
    if joined.status_code != 200:
        return _replied(joined)
    event = ""
    with client.stream("GET", f"{place}/{joined.json()['event_id']}") as lines:
        for line in lines.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: ") and event in ("generating", "complete", "error"):
                text = line.removeprefix("data: ")
                return Reply(lines.status_code, text, _sentence_of(text) if event == "error" else "")
    return Reply(lines.status_code, "", None)


def _replied(answer: httpx.Response) -> Reply:
    return Reply(answer.status_code, answer.text, "" if answer.status_code == 200 else _sentence_of(answer.text))


def _sentence_of(text: str) -> str | None:
    """The error of an answer; None where it has none that can be read."""
    try:
        said = json.loads(text)
    except ValueError:
        return None
    said = said.get("error", said.get("detail")) if isinstance(said, dict) else said
    return said if isinstance(said, str) else None


def _texts(values: list[Any]) -> list[str]:
    """All texts in a list, whole and word by word, as an answer can repeat them."""
    lists = [_texts(value) for value in values if isinstance(value, list) and value is not NESTED]
    whole = [str(value).encode("utf-8", "replace").decode()[:500] for value in values]
    return [*whole, *(word for one in whole for word in re.findall(r"[^\s,'\"\[\]]+", one)), *itertools.chain(*lists)]


def wrong_with(call: Call, reply: Reply) -> str:
    """What a newcomer could not act on in an answer, or nothing."""
    if reply.status not in (200, 500):
        return f"HTTP {reply.status}: {reply.text[:300]}"
    if reply.error == "":
        return "a traceback in the answer" if "Traceback (most" in reply.text else ""
    if reply.error is None:
        return f"no sentence: {reply.text[:200]!r}"
    if found := NO_NEWCOMER.search(reply.error):
        return f"{found[0]!r} in {reply.error[:300]!r}"
    names = {one[0] for one in call.endpoint.parameters}
    first = re.match(r"[\w.-]*", reply.error)
    sent = [*call.values, *(one[2] for one in call.endpoint.parameters), *NAMED]
    begins = any(one and reply.error.startswith(one[:40]) for one in _texts(sent))
    starts = begins or not reply.error[:1].islower() or (first and first[0] in names)
    return "" if starts and reply.error.rstrip()[-1:] in ".?!" else f"no sentence: {reply.error[:300]!r}"
