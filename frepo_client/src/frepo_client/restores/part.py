"""What has arrived of a version: it is kept next to the file that it becomes, and a later call goes on with it."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator
from typing import BinaryIO

from ..private_files import create, delete, open_own, random_name
from ..state import try_lock

_SUFFIX = ".part"


class Part:
    """An open file, read from its start. Only this process uses it."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.file = file
        self._path = path

    def publish(self, path: str) -> None:
        """Close it, and give it its name."""
        self.file.close()
        os.replace(self._path, path)

    def delete(self) -> None:
        """Close and delete it."""
        self.file.close()
        delete(self._path)


@contextlib.contextmanager
def open_part(path: str, sha256: str) -> Iterator[Part]:
    """Yield the part of an earlier call for this content, or a new one. Raises `OSError`.

    Its name has the digest, and is random otherwise: nobody else can make it before. One that another user has made
    is not used.
    """
    folder, name = os.path.split(os.path.abspath(path))
    of_content = os.path.join(folder, f"{name[:150]}.{sha256[:16]}")
    part = _found(of_content) or _new(of_content)
    with part.file:
        yield part


def _found(of_content: str) -> Part | None:
    folder, name = os.path.split(of_content)
    for found in sorted(glob.glob(os.path.join(glob.escape(folder), f".{glob.escape(name)}.*{_SUFFIX}"))):
        with contextlib.suppress(OSError):
            file = open(open_own(found, os.O_RDWR), "r+b")  # noqa: SIM115 - closed by `open_part`
            if try_lock(file.fileno()):
                return Part(found, file)
            file.close()
    return None


def _new(of_content: str) -> Part:
    path = random_name(of_content, _SUFFIX)
    file = create(path)
    try_lock(file.fileno())
    return Part(path, file)
