"""The errors whose message a visitor may read: each says in one or two sentences what to do."""

from __future__ import annotations

import logging


class ExplorerError(Exception):
    """Anything that a visitor can put right; its text is shown as it is (never as HTML)."""


class BadInputError(ExplorerError):
    """The text or a control holds something that this page cannot use."""


class ModelUnavailableError(ExplorerError):
    """A model is not on this machine and cannot be fetched, or is of a kind that is not supported."""


class MissingCapabilityError(ExplorerError):
    """The chosen model lacks the head that the page asks for. capability: which, where it is one; an `architectures` name."""

    def __init__(self, message: str, capability: str | None = None) -> None:
        super().__init__(message)
        self.capability = capability


class OutOfMemoryError(ExplorerError):
    """Neither the memory nor the cache's limit leaves room for what was asked."""


def readable(error: Exception) -> ExplorerError:
    """The error that a visitor may read: their own as it is, a fault of ours as one sentence, with the rest in the log."""
    if isinstance(error, ExplorerError):
        return error
    logging.getLogger("explorer").error("unexpected", exc_info=error)
    return ExplorerError("Something went wrong on the server; its log has the details. Change the input and try again.")
