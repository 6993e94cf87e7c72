"""A visitor's session, at the cost of what they changed.

Gradio 6.31 describes every component of every page for each new session (`gradio.state_holder.SessionState`; 0.39 s of
processor time and 3.2 MB with 1,925 components), so that it could make deep links, which this app does not offer. Here
a session is a layer over the components that all visitors share: it holds what differs, and describes components when
asked to.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import gradio.route_utils
import gradio.routes
from gradio.blocks import Block, Blocks, BlocksConfig
from gradio.components import State
from gradio.state_holder import SessionState, StateHolder

MOST_SESSIONS = 2_000
MOST_BYTES = 64 * 2**20
"""Bytes of all sessions together; those used least recently are dropped first, and begin anew when they come back."""

EMPTY_BYTES = 3_000
"""Bytes of a session that has changed nothing."""

BLOCK_BYTES = 10_000
"""Bytes of a session's own component, besides the arguments that it was made from."""


class VisitorState(SessionState):
    """The state of one session."""

    def __init__(self, blocks: Blocks) -> None:
        shared = blocks.default_config
        self.own: dict[int, Any] = {}
        self.notices: dict[int, Any] = {}  # by place (see notices.py)
        self.alerts = 0  # among them, so far
        config = BlocksConfig(shared.root_block)
        # A change goes into the first map, and never into the components that all share.
        config.blocks = cast(dict[int, Any], ChainMap(self.own, shared.blocks))
        config.fns, config.fn_id, config.renderables = shared.fns, shared.fn_id, shared.renderables
        self.blocks_config = config
        self.state_data = {}
        self._state_ttl = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600
        self.nbytes = EMPTY_BYTES
        self.weighed = 0

    @property
    def config_values(self) -> dict[int, Any]:  # type: ignore[override]
        """Descriptions of all components, made now; without what a visitor has typed."""
        config = self.blocks_config
        return {key: config.config_for_block(key, [], block) for key, block in config.blocks.items()}

    def __setitem__(self, key: int, value: Any) -> None:
        block = self.blocks_config.blocks.get(key)
        if isinstance(block, State):
            self._state_ttl[key] = (block.time_to_live, datetime.now())
            self.state_data[key] = value
        else:
            self.own[key] = value
        self.nbytes = EMPTY_BYTES + size_of(self.own) + size_of(self.state_data)

    def _update_config(self, key: int) -> None:
        """Describe nothing: descriptions are made when they are asked for."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Keep nothing of what a visitor types or is shown."""


class VisitorStates(StateHolder):
    """The sessions, bounded by number (Gradio's own bound) and by bytes."""

    most_bytes = MOST_BYTES

    def __getitem__(self, session_id: str) -> SessionState:
        with self.lock:
            if session_id not in self.session_data:
                self.session_data[session_id] = VisitorState(self.blocks)
            session = self.session_data[session_id]
        self.time_last_used[session_id] = datetime.now()
        self.update(session_id)
        return session

    def update(self, session_id: str) -> None:
        """Mark a session as used; those used least recently are dropped while there are too many or they hold too much."""
        super().update(session_id)
        with self.lock:
            used = cast(VisitorState | None, self.session_data.get(session_id))
            if used is None or used.weighed == used.nbytes:
                return  # most questions leave a session as large as it was
            used.weighed = used.nbytes
            held = sum(cast(VisitorState, session).nbytes for session in self.session_data.values())
            while held > self.most_bytes and len(self.session_data) > 1:
                name, session = self.session_data.popitem(last=False)
                self.time_last_used.pop(name, None)
                held -= cast(VisitorState, session).nbytes


def size_of(value: Any) -> int:
    """Return about how many bytes a session's own value takes."""
    if isinstance(value, Block):
        return BLOCK_BYTES + size_of(value.constructor_args)
    if isinstance(value, Mapping):
        return sys.getsizeof(value) + sum(size_of(part) for pair in value.items() for part in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return sys.getsizeof(value) + sum(map(size_of, value))
    return sys.getsizeof(value)


def install() -> None:
    """Have Gradio's server use these sessions; a call without a session gets one for itself that nobody keeps."""
    for module, name, ours in (
        (gradio.routes, "StateHolder", VisitorStates),
        (gradio.route_utils, "SessionState", VisitorState),
    ):
        assert hasattr(module, name), (
            f"{module.__name__} has no {name} any more: look at how this Gradio keeps sessions"
        )
        setattr(module, name, ours)
