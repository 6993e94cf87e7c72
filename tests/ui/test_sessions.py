"""Sessions cost what a visitor changed, however many pages there are."""

from __future__ import annotations

import gradio as gr
import gradio.route_utils
import httpx
import pytest
from gradio.route_utils import restore_session_state
from gradio.state_holder import SessionState

from explorer.serving import sessions
from explorer.serving.sessions import EMPTY_BYTES, VisitorState, VisitorStates, size_of


@pytest.fixture
def small() -> gr.Blocks:
    with gr.Blocks() as app:
        name = gr.Textbox("Ada", label="name")
        gr.State([0])
        gr.Dropdown(["a", "b"], value="a")
        name.change(lambda text: text, name, name)
    return app


def _key(small: gr.Blocks, kind: type) -> int:
    return next(key for key, block in small.blocks.items() if isinstance(block, kind))


class TestOneSession:
    def test_it_reads_what_everybody_shares(self, small: gr.Blocks) -> None:
        state, theirs = VisitorState(small), SessionState(small)
        for key, block in small.blocks.items():
            assert key in state.blocks_config.blocks
            assert (key in state) == (key in theirs)
            if not isinstance(block, gr.State):
                assert state[key] is block
        assert 10**9 not in state
        assert state.blocks_config.fns == theirs.blocks_config.fns

    def test_what_a_visitor_changes_is_theirs_alone(self, small: gr.Blocks) -> None:
        mine, yours, key = VisitorState(small), VisitorState(small), _key(small, gr.Dropdown)
        mine[key] = gr.Dropdown(["c"], render=False)
        assert mine[key].choices == [("c", "c")]
        assert yours[key].choices == small.blocks[key].choices == [("a", "a"), ("b", "b")]

    def test_states_begin_as_copies_and_keep_their_own_value(self, small: gr.Blocks) -> None:
        mine, yours, key = VisitorState(small), VisitorState(small), _key(small, gr.State)
        mine[key].append(1)
        assert (mine[key], yours[key]) == ([0, 1], [0])
        mine[key] = ["new"]
        assert [(value, expired) for _, value, expired in mine.state_components] == [(["new"], False)]

    def test_it_describes_when_it_is_asked_to_as_gradio_does(self, small: gr.Blocks) -> None:
        described = list(VisitorState(small).components)
        assert described == list(SessionState(small).components)

    def test_nothing_is_described_before(self, small: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise AssertionError("a component was described")

        monkeypatch.setattr(gr.blocks.BlocksConfig, "config_for_block", fail)
        state = VisitorState(small)
        state[_key(small, gr.Dropdown)] = gr.Dropdown(["c"], render=False)
        state._update_config(_key(small, gr.Dropdown))
        state._update_value_in_config(_key(small, gr.Textbox), "typed")

    def test_a_new_one_holds_nothing_of_its_own_however_many_components_there_are(self) -> None:
        with gr.Blocks() as app:
            for _ in range(1000):
                gr.Textbox()
        state = VisitorState(app)
        own, shared = state.blocks_config.blocks.maps
        assert shared is app.default_config.blocks
        assert state.blocks_config.fns is app.default_config.fns
        assert (own, state.own, state.state_data, state.nbytes) == ({}, {}, {}, EMPTY_BYTES)


class TestAllSessions:
    @pytest.fixture
    def holder(self, small: gr.Blocks) -> VisitorStates:
        states = VisitorStates()
        states.set_blocks(small)
        return states

    def test_the_least_recently_used_goes_first_by_number(self, holder: VisitorStates) -> None:
        holder.capacity = 3
        for name in ("a", "b", "c", "a", "d"):
            holder[name]
        assert list(holder.session_data) == ["c", "a", "d"]
        assert set(holder.time_last_used) == {"c", "a", "d"}

    def test_and_by_bytes(self, holder: VisitorStates, small: gr.Blocks) -> None:
        holder.most_bytes, key = 250_000, _key(small, gr.State)
        for name in ("a", "b", "c"):
            holder[name][key] = [name * 100_000]
        holder["d"]
        assert list(holder.session_data) == ["b", "c", "d"]
        holder["b"][key] = ["b" * 10**6]
        holder["b"]
        assert list(holder.session_data) == ["b"]  # the one in use stays, however large

    def test_one_that_went_begins_anew(self, holder: VisitorStates, small: gr.Blocks) -> None:
        holder.capacity, key = 1, _key(small, gr.State)
        holder["a"][key] = ["kept"]
        holder["b"]
        assert holder["a"][key] == [0]

    def test_sizes_grow_with_what_is_held(self, small: gr.Blocks) -> None:
        dropdown = small.blocks[_key(small, gr.Dropdown)]
        long = gr.Dropdown([f"choice {n}" for n in range(1000)], render=False)
        assert size_of(long) > size_of(dropdown) + 40_000
        assert size_of({"a": ["b" * 5000]}) > 5000


class TestServed:
    @pytest.fixture
    def made(self, monkeypatch: pytest.MonkeyPatch) -> list[VisitorState]:
        """Every session that is made from here on."""
        seen: list[VisitorState] = []

        class Seen(VisitorState):
            def __init__(self, small: gr.Blocks) -> None:
                super().__init__(small)
                seen.append(self)

        monkeypatch.setattr(sessions, "VisitorState", Seen)
        monkeypatch.setattr(gradio.route_utils, "SessionState", Seen)
        return seen

    def test_visitors_get_small_sessions_and_calls_without_one_none(
        self, address: str, made: list[VisitorState]
    ) -> None:
        question = {"data": ["bert-small", "Paris is in [MASK].", 5, ""]}
        for session in ({"session_hash": "one"}, {"session_hash": "one"}, {"session_hash": "two"}, {}):
            answer = httpx.post(f"{address}gradio_api/run/fill_masks", json=question | session, timeout=120)
            assert answer.status_code == 200, answer.text
        assert len(made) == 3
        assert all(state.nbytes == EMPTY_BYTES for state in made)

    def test_gradio_still_has_what_is_replaced(self) -> None:
        assert restore_session_state.__globals__["SessionState"] is VisitorState
        assert gradio.routes.StateHolder is VisitorStates
