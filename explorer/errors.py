"""The errors whose message a visitor may read: each says in one or two sentences what to do."""

from __future__ import annotations


class ExplorerError(Exception):
    """Anything that a visitor can put right; its text is shown as it is (never as HTML)."""


class BadInputError(ExplorerError):
    """The text or a control holds something that this page cannot use."""


class ModelUnavailableError(ExplorerError):
    """A model is not on this machine and cannot be fetched, or is of a kind that is not supported."""


class MissingCapabilityError(ExplorerError):
    """The chosen model lacks the head that the page asks for."""


class OutOfMemoryError(ExplorerError):
    """Neither the memory nor the cache's limit leaves room for what was asked."""
