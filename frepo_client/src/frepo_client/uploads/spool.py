"""A folder of dumps that wait for the server: one that is down delays the upload and not the dump."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors import ClientError, CommandFailedError, UnreachableError
from ..private_files import create, open_own, sync, write
from ..reporter import Reporter
from ..server.api import Api
from ..state import try_lock
from .outcome import Outcome
from .push import Push

_PART, _READY, _ABOUT = ".part", ".dump", ".json"


class WaitingDump:
    """A complete dump in a spool; `path` is that of its files, without their suffix."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = os.path.basename(path)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return os.path.getsize(self.path + _READY)

    @property
    def collection(self) -> str:
        """The collection that it is for; empty if that cannot be read."""
        try:
            with open(self.path + _ABOUT, encoding="utf-8", opener=open_own) as file:
                return str(json.load(file)["collection"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return ""

    def delete(self) -> None:
        """Delete it."""
        for suffix in (_READY, _ABOUT):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path + suffix)


def waiting_dumps(folder: str) -> Iterator[WaitingDump]:
    """Yield the complete dumps in a spool, the oldest first."""
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(_READY):
            yield WaitingDump(os.path.join(folder, name[: -len(_READY)]))


class Spool:
    """The folder, and how its dumps get to the server: the oldest first."""

    def __init__(self, folder: str, api: Api, reporter: Reporter) -> None:
        self._folder = folder
        self._api = api
        self._push = Push(api, reporter)
        self._reporter = reporter
        self.refused: list[str] = []
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise CommandFailedError(f"the spool {folder} cannot be made: {error.strerror}") from None

    def begin(self, collection: str) -> SpooledUpload:
        """Begin a dump."""
        self._delete_abandoned()
        name = re.sub(r"[^\w.-]", "_", collection)
        return SpooledUpload(self, self._api, collection, os.path.join(self._folder, f"{time.time_ns()}-{name}"))

    def _delete_abandoned(self) -> None:
        """Delete what clients have left that were killed while they wrote a dump."""
        for name in os.listdir(self._folder):
            if name.endswith(_PART):
                path = os.path.join(self._folder, name)
                with contextlib.suppress(OSError), open(path, "r+b", opener=open_own) as file:
                    if try_lock(file.fileno()):
                        os.remove(path)

    def waiting(self) -> Iterator[str]:
        """Yield the paths of complete dumps, without their suffix, the oldest first."""
        return (dump.path for dump in waiting_dumps(self._folder))

    def send_all(self) -> dict[str, Outcome]:
        """Send what waits; return the outcomes by path. Raises `UnreachableError`, and the rest waits on.

        What the server refuses is named and stays in the folder, so that nothing is lost and others are not held up.
        """
        sent = {}
        for path in list(self.waiting()):
            try:
                with open(path + _ABOUT, encoding="utf-8", opener=open_own) as file:
                    about = json.load(file)
                sent[path] = self._push.send(about["collection"], path + _READY, about["run"], opener=open_own)
                self._reporter.say(f"from the spool: {sent[path].describe(about['collection'])}")
            except UnreachableError as error:
                waiting = len(list(self.waiting()))
                raise UnreachableError(f"{error}; dumps that wait in {self._folder}: {waiting}") from None
            except (ClientError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                self.refused.append(path)
                problem = error if isinstance(error, (ClientError, OSError)) else f"{path}{_ABOUT} says not for what"
                self._reporter.fail(
                    f"{path}{_READY} could not be sent and stays there: {problem}. Correct the collection in "
                    f"{path}{_ABOUT}, or delete the dump: frepo-client spool --delete {os.path.basename(path)}"
                )
                continue
            self._forget(path)
        return sent

    def _forget(self, path: str) -> None:
        try:
            WaitingDump(path).delete()
        except OSError as error:
            self._reporter.fail(f"{path}{_READY} is stored, but cannot be deleted, and will be sent again: {error}")


class SpooledUpload:
    """A dump that is written to the spool. `offset` is its size."""

    coding = ""

    def __init__(self, spool: Spool, api: Api, collection: str, path: str) -> None:
        self.offset = 0
        self._spool = spool
        self._api = api
        self._collection = collection
        self._path = path
        self._file = create(path + _PART)
        try_lock(self._file.fileno())

    def send_part(self, part: bytes, size: int) -> None:
        """Write a part. Raises `CommandFailedError` if the disk is full."""
        try:
            self._file.write(part)
        except OSError as error:
            raise CommandFailedError(f"the dump cannot be kept in the spool: {error.strerror}") from None
        self.offset += len(part)

    def commit(self, sha256: str, run: dict[str, Any]) -> Outcome:
        """Complete the dump, and send all that waits. Raises `UnreachableError` if it has to wait on."""
        about = json.dumps({"collection": self._collection, "run": run, "sha256": sha256})
        try:
            with self._file:
                sync(self._file)
            write(self._path + _ABOUT, about)
            os.replace(self._path + _PART, self._path + _READY)
        except OSError as error:
            self.abort()
            raise CommandFailedError(f"the dump cannot be kept in the spool: {error.strerror}") from None
        sent = self._spool.send_all()
        if self._path not in sent:
            raise ClientError(f"{self._path}{_READY} was not stored; see above")
        return replace(sent[self._path], are_others_refused=bool(self._spool.refused))

    def abort(self) -> None:
        """Delete the dump."""
        with contextlib.suppress(OSError):  # what is in memory may not fit on the disk
            self._file.close()
        for suffix in (_PART, _ABOUT):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self._path + suffix)
