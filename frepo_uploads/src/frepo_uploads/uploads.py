"""Keeps what is known of each upload in a file next to its bytes. A change names what it begins from."""

import contextlib
import fcntl
import json
import logging
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from frepo_core.plugins import Identity

from .disk.part_file import delete, make_folder, sync_folder, translated
from .disk.place import Place, tag_of
from .session import BusyError, State, Upload

log = logging.getLogger(__name__)

RECORD = ".json"
_LOCK = ".frepo-uploads.lock"
_ALWAYS = frozenset({"created_at", "touched_at"})
_TIMES = _ALWAYS | {"silent_since", "ended_at"}
_ENDED = "ended"
# How many outcomes of one token are kept; of more, the oldest are forgotten at once.
MOST_OF_TOKEN = 1000


class EndedUploads:
    """The records of ended uploads, apart from those of open ones. Errors are `OSError`."""

    def __init__(self, folder: Path, suffix: str) -> None:
        """`folder` has the open ones, `suffix` is what a record's name ends with."""
        self._folder, self._suffix = folder / _ENDED, suffix

    def path(self, upload: str, owner: str) -> Path:
        """Return where the record of an upload is, in a folder that exists and has room for it."""
        folder = self._folder / owner
        make_folder(folder)
        self._forget_oldest(folder)
        return folder / f"{upload}{self._suffix}"

    def find(self, upload: str) -> Path | None:
        """Return where the record of an upload is, None if there is none."""
        paths = (folder / f"{upload}{self._suffix}" for folder in self._owners())
        return next((path for path in paths if path.exists()), None)

    def has_any(self, start: str) -> bool:
        """Return whether an id of an ended upload begins so."""
        return any(path.name.startswith(start) for path in self._all())

    def forget_before(self, moment: datetime) -> int:
        """Delete the records that were written before a time (aware); return how many."""
        old = [path for path in self._all() if path.stat().st_mtime < moment.timestamp()]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def forget_empty(self) -> None:
        """Delete the folders of tokens that have none any more; nobody may write meanwhile."""
        for folder in self._owners():
            with contextlib.suppress(OSError):  # it has some
                folder.rmdir()

    def _all(self) -> Iterator[Path]:
        for folder in self._owners():
            yield from folder.glob(f"*{self._suffix}")

    def _owners(self) -> list[Path]:
        return [*self._folder.iterdir()] if self._folder.exists() else []

    def _forget_oldest(self, folder: Path) -> None:
        found = [entry for entry in os.scandir(folder) if entry.name.endswith(self._suffix)]
        if len(found) >= MOST_OF_TOKEN:
            # Some more, so that this is not done for each.
            by_age = sorted(found, key=lambda entry: entry.stat().st_mtime)
            for entry in by_age[: len(found) - MOST_OF_TOKEN * 9 // 10]:
                os.unlink(entry.path)


class Uploads:
    """The uploads in one folder, for all processes that share it. Errors are those of `translated`."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @cached_property
    def _ended(self) -> EndedUploads:
        return EndedUploads(self._place.folder, RECORD)

    def find(self, upload: str) -> Upload | None:
        """Return an upload, None if there is none."""
        path = self._path(upload)
        if path.parent != self._place.folder:
            return None
        if (found := _read(path)) is not None:
            return found
        with translated():
            ended = self._ended.find(upload)
        return None if ended is None else _read(ended)

    def find_created(self, key: str | None, owner: str, collection_id: str | None) -> Upload | None:
        """Return the upload that a lost answer was about: of the same key, owner and collection, without bytes."""
        mine = [each for each in self.all_open() if each.key == key and each.owner == owner and not each.offset]
        return next((each for each in mine if key and each.collection_id == collection_id), None)

    def all_open(self) -> list[Upload]:
        """Return the open uploads, those first that have waited longest for a part."""
        return sorted((each for each in self._all() if each.is_open), key=lambda each: each.touched_at)

    def count_open(self, tag: str) -> int:
        """Return how many uploads are open that a host with this tag has made."""
        return sum(tag_of(each.id) == tag for each in self.all_open())

    def has_any(self, tag: str) -> bool:
        """Return whether a host with this tag has made an upload that is open, or whose outcome can be read."""
        return self.count_open(tag) > 0 or self._ended.has_any(f"{tag}-")

    def forget_ended(self, moment: datetime) -> int:
        """Delete what is known of uploads that ended before a time in UTC (aware); return of how many."""
        # An earlier version kept them next to the open ones.
        earlier = [each for each in self._all() if each.ended_at is not None and each.ended_at < moment]
        with translated():
            for each in earlier:
                self._path(each.id).unlink(missing_ok=True)
            count = self._ended.forget_before(moment)
        with self._alone():
            self._ended.forget_empty()
        return count + len(earlier)

    def add(self, upload: Upload, admit: Callable[[Sequence[Upload]], Sequence[Upload]]) -> list[Upload]:
        """Add an upload. `admit` gets the open ones, and returns those that give way to it, or raises."""
        with self._alone():
            given_way = [ended(each, State.EXPIRED, "It gave way to another upload") for each in admit(self.all_open())]
            for each in [*given_way, upload]:
                self._write(each)
        return given_way

    def change(self, upload: Upload, state: State | None = None, **changes: Any) -> Upload:
        """Write changes, and return the upload after them.

        Raises `BusyError`, and writes nothing, if somebody has changed the upload since it was read.
        """
        changed = replace(upload, **changes) if state is None else upload.moved_to(state, **changes)
        with self._alone():
            known = self.find(upload.id)
            if known is None or _version(known) != _version(upload):
                raise BusyError(409, "Another request has changed the upload meanwhile: ask with HEAD", retry_after=1)
            self._write_with_room(changed)
        return changed

    def end(self, upload: Upload, state: State, message: str) -> Upload:
        """End an upload without a version. Raises `BusyError` as `change`."""
        done = ended(upload, state, message)
        return self.change(upload, state, ended_at=done.ended_at, outcome=done.outcome)

    def _all(self) -> Iterator[Upload]:
        with translated():
            for path in self._place.folder.glob(f"*{RECORD}"):
                if (found := _read(path)) is not None:
                    yield found

    def _path(self, upload: str) -> Path:
        return self._place.folder / f"{upload}{RECORD}"

    def _write_with_room(self, upload: Upload) -> None:
        """Write the end of an upload also if its own bytes have filled the disk: nobody needs them any more."""
        try:
            self._write(upload)
        except OSError:
            if upload.is_open or upload.state is State.COMMITTED or upload.place != self._place.id:
                raise
            delete(self._place.folder, upload.id)
            self._write(upload)

    def _write(self, upload: Upload) -> None:
        path = self._path(upload.id)
        if upload.is_open:
            self._replace(path, upload)
            return
        self._replace(self._ended.path(upload.id, upload.owner), upload)
        path.unlink(missing_ok=True)

    def _replace(self, path: Path, upload: Upload) -> None:
        own = self._place.folder / f"{uuid.uuid4().hex}.new"
        try:
            with open(own, "w", encoding="utf-8") as file:
                file.write(json.dumps(_data(upload)))  # `dump` takes ten times as long
                file.flush()
                os.fsync(file.fileno())
            os.rename(own, path)
        except OSError:
            own.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Let changes wait for each other."""
        with translated():
            lock = os.open(self._place.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
            finally:
                os.close(lock)


def now() -> datetime:
    """Return the time in UTC (aware)."""
    return datetime.now(UTC)


def ended(upload: Upload, state: State, message: str) -> Upload:
    """Return the upload after its end without a version."""
    return upload.moved_to(state, ended_at=now(), outcome={"message": message})


def _version(upload: Upload) -> tuple[State, int, int]:
    return upload.state, upload.epoch, upload.offset


def _data(upload: Upload) -> dict[str, Any]:
    values = {field.name: getattr(upload, field.name) for field in fields(upload)}
    for name in _TIMES:
        values[name] = None if values[name] is None else values[name].isoformat()
    return {**values, "creator": upload.creator.data(), "metadata": dict(upload.metadata)}


def _read(path: Path) -> Upload | None:
    """Return what a file says about an upload; None if it is no record of one: it is named, and others go on."""
    try:
        values = json.loads(path.read_bytes())
        for name in _TIMES:
            values[name] = None if values[name] is None else datetime.fromisoformat(values[name])
        if problem := _find_problem(values, path.stem):
            raise ValueError(f"its {problem} is impossible")
        creator, state = Identity.of_data(values["creator"]), State(values["state"])
        return Upload(**{**values, "creator": creator, "state": state})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("%s is no record of an upload and is passed over: %s: %s", path, type(error).__name__, error)
        return None


def _find_problem(values: Mapping[str, Any], name: str) -> str | None:
    """Return what is impossible in the record of the upload with this name, or None."""
    if values["id"] != name:  # it is also the name of the file with the bytes
        return "id"
    for key in _TIMES:
        if (values[key] is None and key in _ALWAYS) or (values[key] is not None and values[key].tzinfo is None):
            return key
    for key in ("offset", "epoch", "length", "last_number"):
        number = values.get(key)
        if type(number) is not int and not (number is None and key in {"length", "last_number"}):
            return key
    if not isinstance(values["creator"]["token"], str):
        return "creator"
    is_text = all(isinstance(one, str) for pair in values["metadata"].items() for one in pair)
    return None if is_text and isinstance(values["place"], str) else "metadata"
