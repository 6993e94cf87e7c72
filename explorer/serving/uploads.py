"""Limits on the files that visitors may bring, by whichever way: of one, of all from one address, none while the disk
is nearly full.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from gradio.utils import get_upload_folder
from starlette.requests import HTTPConnection

from explorer.serving.rates import Rate, host_of
from explorer.settings import GIBIBYTE, MEBIBYTE, Settings

COOKIE = "bert-explorer-visitor"
LONGEST_NAME = 64


class Uploads:
    """The limits of one server."""

    def __init__(self, settings: Settings) -> None:
        self.free_bytes = settings.free_disk_bytes
        self.rate = Rate(settings.uploads_an_hour, 3600)
        self.address_rate = Rate(settings.address_uploads_an_hour, 3600)

    def refusal(self, request: HTTPConnection) -> tuple[int, str]:
        """Count one file, and return (200, ""), or else the status and the sentence of a refusal."""
        if _free_bytes() < self.free_bytes:
            return 507, (
                f"This server's disk has less than {self.free_bytes / GIBIBYTE:.2g} GB left, so it takes no files now. Whoever "
                "runs it can free some space."
            )
        host = host_of(request)
        if not self.rate.take(f"{host} {name_of(request)}"):
            return 429, (
                f"You have brought more than {self.rate.most:,} files within an hour, the most that this server takes of one "
                "visitor. Try again in a few minutes; what you brought earlier is still there."
            )
        if not self.address_rate.take(host):
            return 429, (
                f"More than {self.address_rate.most:,} files came from your network within an hour, the most that this server "
                "takes. Try again in a few minutes."
            )
        return 200, ""


def name_of(request: HTTPConnection) -> str:
    """Return the name by which a browser is known."""
    return request.cookies.get(COOKIE, "")[:LONGEST_NAME]


def too_large_file(most: int) -> str:
    """Return the message for a file of more bytes than this."""
    return f"A file may have at most {megabytes(most)} on this server. Bring a smaller one."


def megabytes(size: int) -> str:
    """Return a size in bytes as megabytes."""
    return f"{size / MEBIBYTE:.3g} MB"


def _free_bytes() -> int:
    """Return the free bytes of the disk to which uploads go."""
    folder = Path(get_upload_folder()).absolute()
    # The folder is only made with the first upload.
    return shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.is_dir())).free
