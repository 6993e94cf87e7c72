"""Whose name it is: signed by this server, invented by a client, the lecturer's, or none at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from explorer import SCRIPT_OWNER
from explorer.errors import BadInputError
from explorer.runs.examples import OWNER
from explorer.runs.manager import LECTURER
from explorer.runs.queue import party_of
from explorer.serving import visitors
from explorer.serving.visitors import NAMES, Names, owner_of
from tests.rows import each_row

RUNS: Any = SimpleNamespace(is_lecturer=lambda key: key == "teach")


def asked(host: str = "10.0.0.1", session: str = "s1") -> Any:
    return SimpleNamespace(client=SimpleNamespace(host=host), session_hash=session)


def test_a_browser_keeps_its_name_and_has_a_turn_of_its_own() -> None:
    first = NAMES.give("", "10.0.0.1")
    name = owner_of(RUNS, first, asked())
    assert party_of(name) == name
    assert NAMES.give(first, "10.0.0.1") == first
    assert owner_of(RUNS, NAMES.give(str(name), "10.0.0.1"), asked()) == name
    assert owner_of(RUNS, NAMES.give("", "10.0.0.1"), asked()) != name


def test_after_a_restart_the_name_is_signed_again_and_finds_its_runs() -> None:
    before = Names().give("", "10.0.0.1")
    name = before.partition(".")[0]
    assert owner_of(RUNS, before, asked()) == name
    assert party_of(owner_of(RUNS, before, asked())) == "address 10.0.0.1"
    assert party_of(owner_of(RUNS, NAMES.give(before, "10.0.0.1"), asked())) == name


@each_row("name", ["ada", "ada.", "ada.0123", "ada.\u00fc", ".", ""])
def test_names_that_a_client_invents_share_a_turn(name: str) -> None:
    assert party_of(owner_of(RUNS, name, asked())) == "address 10.0.0.1"
    assert party_of(owner_of(RUNS, name, asked("10.0.0.2"))) == "address 10.0.0.2"


def test_an_address_is_not_given_names_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "MOST_NAMES", 3)
    monkeypatch.setattr(visitors, "MOST_ADDRESSES", 2)
    names = Names()
    assert [names.check(names.give("", "10.0.0.1"))[1] for _ in range(5)] == [True, True, True, False, False]
    assert names.check(names.give("", "10.0.0.2"))[1]
    assert names.give("ada", "10.0.0.1") == "ada"
    names.give("", "10.0.0.3")
    assert len(names._given) == 2


@each_row("name", [LECTURER, OWNER, SCRIPT_OWNER, "lecturer:", "lecturer:\u00fc", "lecturer:teach2", f" {OWNER}.x"])
def test_nobody_takes_a_name_that_is_not_for_visitors(name: str) -> None:
    assert owner_of(RUNS, name, asked(session="s9")) == "client-s9"


def test_the_lecturers_key_makes_the_lecturer() -> None:
    assert owner_of(RUNS, "lecturer:teach", asked()) == LECTURER


@each_row("odd", [5, 0, True, ["ada"], {"a": 1}, "\ud800", "x" * 100_000])
def test_what_cannot_be_a_name_is_refused(odd: object) -> None:
    with pytest.raises(BadInputError, match="visitor must be a name"):
        owner_of(RUNS, odd, asked())


def test_no_name_is_the_clients_session() -> None:
    assert owner_of(RUNS, None, asked(session="s9")) == "client-s9"
    assert owner_of(RUNS, "  ", None) == "client-"


def with_session(session: dict[str, Any]) -> Any:
    request = asked()
    request.request = SimpleNamespace(scope={"session": session})
    return request


def account(name: str = "ada", **changes: Any) -> dict[str, Any]:
    return {"oauth_info": {"userinfo": {"preferred_username": name}, **changes}}


def test_who_has_signed_in_is_the_same_visitor_on_every_browser() -> None:
    browsers = [NAMES.give("", "10.0.0.1"), NAMES.give("", "10.0.0.2"), ""]
    owners = {owner_of(RUNS, browser, with_session(account())) for browser in browsers}
    assert owners == {"huggingface:ada"}
    assert party_of(owner_of(RUNS, "", with_session(account()))) == "huggingface:ada"
    assert owner_of(RUNS, "", with_session(account("bob"))) != owner_of(RUNS, "", with_session(account()))
    assert owner_of(RUNS, "lecturer:teach", with_session(account())) == LECTURER


@pytest.mark.parametrize("session", [{}, {"oauth_info": None}, account(expires_at=1.0)])
def test_without_a_valid_account_a_visitor_is_known_as_ever(session: dict[str, Any]) -> None:
    given = NAMES.give("", "10.0.0.1")
    assert owner_of(RUNS, given, with_session(session)) == owner_of(RUNS, given, asked())


def test_nobody_takes_an_account_by_naming_it() -> None:
    assert owner_of(RUNS, "huggingface:ada", asked()) == "client-s1"
