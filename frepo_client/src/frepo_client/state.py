"""What the client remembers between two runs: sessions that can go on, and locks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from .private_files import open_lock, open_own, write


def state_folder() -> str:
    """Return the folder for the client's state, and make it: for this user alone. Raises `OSError`."""
    if os.name == "nt":
        folder = os.path.join(os.environ.get("LOCALAPPDATA", os.path.expanduser("~")), "frepo-client")
    elif os.environ.get("STATE_DIRECTORY"):  # of systemd
        folder = os.environ["STATE_DIRECTORY"].split(":")[0]
    else:
        home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        folder = os.path.join(home, "frepo-client")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


class Remembered:
    """A small file about one upload, which `key` identifies. Without a folder for it, nothing is remembered."""

    def __init__(self, key: Sequence[Any]) -> None:
        self._name = hashlib.sha256(json.dumps(list(key)).encode()).hexdigest()[:32] + ".json"

    def read(self) -> dict[str, Any]:
        """Return what is remembered, an empty object if nothing is."""
        try:
            with open(self._path(), encoding="utf-8", opener=open_own) as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def write(self, values: dict[str, Any]) -> None:
        """Remember this instead. Raises `OSError`, such as that of a disk that nobody may write to."""
        write(self._path(), json.dumps(values), is_durable=False)

    def forget(self) -> None:
        """Remember nothing."""
        with contextlib.suppress(OSError):
            os.remove(self._path())

    def _path(self) -> str:
        return os.path.join(state_folder(), self._name)


@contextlib.contextmanager
def locked(name: str, say: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock `name` of this machine and user; yield False if another process holds it.

    The lock ends with the process, however that ends. A full or read-only disk is said, and holds nobody up: a
    backup that runs twice is better than none.
    """
    try:
        path = os.path.join(state_folder(), f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock")
        file = open_lock(path)
    except OSError as error:
        say(
            f"no lock against a second run, because {error.filename} cannot be written: {error.strerror}; set "
            "XDG_STATE_HOME to a folder of this user"
        )
        yield True
        return
    with file:
        yield try_lock(file.fileno())


def try_lock(descriptor: int) -> bool:
    """Lock a file until it is closed; return False if another process has done so."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
