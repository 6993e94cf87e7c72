"""The errors whose message a visitor may read: each says in one or two sentences what to do."""

from __future__ import annotations

import errno
import logging

LONGEST = 1200
"""Characters of a message; a longer one repeats what was sent, and its middle is left out."""


class ExplorerError(Exception):
    """Anything that a visitor can put right; its text is shown as it is (never as HTML)."""

    def __init__(self, message: str) -> None:
        """Take a message; it may repeat a visitor's input."""
        if len(message) > LONGEST:
            message = f"{message[: LONGEST // 2]} … {message[-LONGEST // 2 :]}"
        # Lone surrogates in such input cannot be encoded, and are replaced.
        super().__init__(message.encode("utf-8", "replace").decode("utf-8"))


class BadInputError(ExplorerError):
    """The text or a control holds something that this page cannot use."""


class ModelUnavailableError(ExplorerError):
    """A model is not on this machine and cannot be fetched, or is of a kind that is not supported."""


class MissingCapabilityError(ExplorerError):
    """The chosen model lacks the head that the page asks for.

    capability: the head's name, if it is one. model_type: the model's family, as its config calls it.
    """

    def __init__(self, message: str, capability: str | None = None, model_type: str = "") -> None:
        super().__init__(message)
        self.capability, self.model_type = capability, model_type


class OutOfMemoryError(ExplorerError):
    """Neither the memory nor the cache's limit leaves room for what was asked."""


class StorageError(ExplorerError):
    """A file of this server cannot be read or written; the text says which, why, and what to do."""


_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def storage_error(what: str, error: BaseException, verb: str = "written") -> StorageError:
    """Return the error for a failed access to `what`, which begins the sentence; other errors of the disk keep their
    own words.
    """
    said = f"{what} could not be {verb}: "
    if _is_full(error):
        return StorageError(
            said + "the server's disk is full. Delete runs that you no longer need, or free some space; then try again."
        )
    if is_forbidden(error):
        return StorageError(
            said + "this server may not use its data folder. Whoever runs it can allow that, or name another "
            "folder (EXPLORER_DATA)."
        )
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StorageError(
        f"{said}{why[:120]}. Try again; if it stays so, whoever runs the server has to look at the disk."
    )


def _is_full(error: BaseException) -> bool:
    """Return whether the disk is full."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in _FULL
    # safetensors and SQLite raise errors of their own, with the reason in words.
    return any(words in str(error) for words in ("No space left", "disk is full", "quota exceeded"))


def is_forbidden(error: BaseException) -> bool:
    """Return whether this process cannot write there, as on a disk that is read-only; SQLite tells it in words."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in _FORBIDDEN
    words = ("readonly database", "unable to open database", "Read-only file system", "Permission denied")
    return any(one in str(error) for one in words)


def readable(error: BaseException) -> ExplorerError:
    """Return the error that a visitor may read: their own unchanged, a fault of ours as one sentence, with the rest in
    the log.
    """
    if isinstance(error, ExplorerError):
        return error
    if isinstance(error, RecursionError):
        return BadInputError("A value is nested too deeply. Give a text, a number or a plain list.")
    logging.getLogger("explorer").error("unexpected", exc_info=error)
    if _is_full(error) or (isinstance(error, OSError) and error.errno == errno.EROFS):
        return storage_error("What this needs", error)
    return ExplorerError("Something went wrong on the server; its log has the details. Change the input and try again.")
