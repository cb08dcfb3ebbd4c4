"""The content of a base backup: a tar that `pg_basebackup -Ft` makes, with its manifest."""

import hashlib
import json
import re
import struct
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from .names import parse_lsn

_START = re.compile(r"^START WAL LOCATION: ([0-9A-F]+/[0-9A-F]+) ", re.MULTILINE)
_TIMELINE = re.compile(r"^START TIMELINE: (\d+)", re.MULTILINE)
LABEL_FILE, MANIFEST, CONTROL = "backup_label", "backup_manifest", "global/pg_control"
MOST_OF_A_FILE = 256 << 20
_PIECE = 1 << 20


class NoBaseError(ValueError):
    """The content is no base backup, or is not whole. The text says why."""


class DamagedBaseError(NoBaseError):
    """The content is not the one that `pg_basebackup` made."""


@dataclass(frozen=True, kw_only=True)
class BaseFile:
    """A file in the tar, and its SHA-256."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class BaseContent:
    """What a tar contains. `manifest` is the text of the manifest."""

    files: list[BaseFile]
    values: dict[str, int]
    manifest: bytes


def read_base(content: BinaryIO) -> BaseContent:
    """Read a base backup. Raises `NoBaseError`, and what reading the content raises."""
    files: list[BaseFile] = []
    kept: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=content, mode="r:") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                name = member.name.removeprefix("./")
                if not files and name != LABEL_FILE:
                    raise NoBaseError("it does not begin with backup_label")
                if name in {LABEL_FILE, MANIFEST, CONTROL} and member.size <= MOST_OF_A_FILE:
                    kept[name] = b"".join(_pieces(archive, member))
                    digest = hashlib.sha256(kept[name]).hexdigest()
                else:
                    digest = _digest(archive, member)
                files.append(BaseFile(name=name, size=member.size, sha256=digest))
                archive.members = []  # type: ignore[attr-defined]  # it remembers each one otherwise
    except tarfile.TarError as error:
        raise NoBaseError(f"the tar is not whole: {error}") from error
    return BaseContent(files=files, values=_values(kept), manifest=kept.get(MANIFEST, b""))


def _values(kept: dict[str, bytes]) -> dict[str, int]:
    """Return the places and the timeline. Raises `NoBaseError`."""
    if missing := [name for name in (LABEL_FILE, CONTROL, MANIFEST) if name not in kept]:
        raise NoBaseError(f"it has no {missing[0]}: it was cut off, or made without a manifest")
    label = kept[LABEL_FILE].decode("utf-8", "replace")
    start, timeline = _START.search(label), _TIMELINE.search(label)
    if not (start and timeline):
        raise NoBaseError("backup_label does not say where the WAL begins")
    try:
        ranges = json.loads(kept[MANIFEST])["WAL-Ranges"]
        stop = max(parse_lsn(one["End-LSN"]) for one in ranges)
    except (ValueError, KeyError, TypeError) as error:
        raise NoBaseError("backup_manifest does not say where the WAL ends") from error
    order = "<" if struct.unpack_from("<I", kept[CONTROL], 8)[0] < 1 << 16 else ">"
    system = struct.unpack_from(f"{order}Q", kept[CONTROL])[0]
    return {"timeline": int(timeline[1]), "start": parse_lsn(start[1]), "stop": stop, "system": system}


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(archive, member):
        digest.update(piece)
    return digest.hexdigest()


def _pieces(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    file = archive.extractfile(member)
    while file and (piece := file.read(_PIECE)):
        yield piece
