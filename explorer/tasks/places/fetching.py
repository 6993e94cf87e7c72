"""Parquet files of data sets on the hub, fetched as models are and read by `datasets`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

from explorer.errors import ExplorerError
from explorer.settings import Settings


class TaskUnavailableError(ExplorerError):
    """Raised if a task's examples are not on this machine and cannot be fetched."""


def are_here(repository: str, files: Iterable[str], settings: Settings, branch: str = "main") -> bool:
    """Return whether files of a data set have been fetched already; never asks the network."""
    from huggingface_hub import try_to_load_from_cache

    find = partial(try_to_load_from_cache, cache_dir=settings.hub_cache, revision=branch, repo_type="dataset")
    found = [find(repository, file) for file in files]
    return all(isinstance(path, str) for path in found)


def fetch(repository: str, file: str, settings: Settings, branch: str = "main") -> Path:
    """Return one file. Raises TaskUnavailableError, whose message is the reason as part of a sentence."""
    import httpx2
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError
    from tqdm.auto import tqdm

    where = {"repo_type": "dataset", "revision": branch, "cache_dir": settings.hub_cache}
    get = partial(hf_hub_download, repository, file, **where)
    try:
        return Path(get(local_files_only=True))  # without asking the hub whether it has a newer one
    except LocalEntryNotFoundError:
        if settings.offline:
            raise TaskUnavailableError("HF_HUB_OFFLINE is set") from None
    quiet = cast("type[Any]", partial(tqdm, disable=True))
    try:
        # without a network this fails at once, where hf_hub_download tries for 23 seconds
        HfApi(endpoint=settings.hub_endpoint).dataset_info(repository, timeout=settings.hub_timeout)
        return Path(get(endpoint=settings.hub_endpoint, etag_timeout=settings.hub_timeout, tqdm_class=quiet))
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise TaskUnavailableError(_reason(error)) from error


def rows_of(file: Path) -> Any:
    """Return a file's rows as a Dataset."""
    from datasets import Dataset, disable_progress_bars

    disable_progress_bars()
    # `datasets` keeps a copy of what it reads, which would outlive its use.
    with tempfile.TemporaryDirectory(prefix="explorer-hub-", ignore_cleanup_errors=True) as scratch:
        return Dataset.from_parquet(str(file), cache_dir=scratch, keep_in_memory=True)


def _reason(error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the hub answered with an error ({status})"
    if "No space left" in str(error):
        return "the disk is full"
    if isinstance(error, PermissionError):
        return "this server may not write to its download folder"
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return "what answered is not the hub (a network's login page does that)"
    return "the connection failed or broke off"
