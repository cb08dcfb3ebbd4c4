"""Getting a version into a file or into a command."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..errors import BROKEN, ClientError, CommandFailedError, UsageError
from ..private_files import create, delete, open_own, random_name, replacing, sync
from ..programs import into, through
from ..reporter import Reporter
from ..server.api import Api
from ..state import try_lock
from .download import PIECE, Download, path_of
from .layers import find_layer, undo_layers

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


@dataclass(frozen=True)
class Decoding:
    """How to undo encryption and compression. `raw` leaves the bytes as they are."""

    raw: bool = False
    identities: Sequence[str] = ()

    def undo(self, pieces: Iterator[bytes], *, keep: str = "") -> Iterator[bytes]:
        """Yield the content."""
        return pieces if self.raw else undo_layers(pieces, identities=self.identities, keep=keep)

    def changes(self, file: BinaryIO, *, keep: str) -> bool:
        """Whether a file has something to undo."""
        file.seek(0)
        return not self.raw and find_layer(file.read(64), keep=keep) is not None


class Pull:
    """Gets versions of a collection."""

    def __init__(self, api: Api, reporter: Reporter, decoding: Decoding) -> None:
        self._api = api
        self._reporter = reporter
        self._decoding = decoding

    def find(self, collection: str, selector: str) -> dict[str, Any]:
        """Return the version that a selector names, `good` or `v3`."""
        return self._api.version(collection, selector)

    def into_stages(
        self,
        collection: str,
        version: dict[str, Any],
        stages: Sequence[Sequence[str]],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Send a version through stages, each of which gets its end of file only if every byte was right."""
        content = self._decoding.undo(self._download(collection, version).pieces())
        for stage in stages[:-1]:
            content = through(stage, content, environment)
        into(stages[-1], content, environment)

    def discard(self, collection: str, version: dict[str, Any]) -> None:
        """Read a version to its end, without encryption and compression, and compare its digest."""
        for _ in self._decoding.undo(self._download(collection, version).pieces()):
            pass

    def to_output(self, collection: str, version: dict[str, Any]) -> None:
        """Write a version to standard output. The exit status alone says whether it was right."""
        for piece in self._decoding.undo(self._download(collection, version).pieces()):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()

    def into_file(self, collection: str, version: dict[str, Any], path: str) -> None:
        """Write a version to a file, which gets its name when all of it is there and right.

        What has arrived before a break is kept next to it, and is used the next time.
        """
        download = self._download(collection, version)
        if os.path.exists(path) and not os.path.isfile(path):
            raise UsageError(f"{path} is not a file; write another name, or -o - for standard output")
        keep = os.path.basename(os.path.abspath(path))
        try:
            with open_part(path, download.sha256) as part:
                self._complete(part, download)
                if self._decoding.changes(part.file, keep=keep):
                    self._write_decoded(part, path, keep=keep)
                else:
                    part.publish(path)
        except OSError as error:
            raise CommandFailedError(f"{path} cannot be written: {error.strerror}") from None

    def _download(self, collection: str, version: dict[str, Any]) -> Download:
        path = f"{path_of(self._api.collection_id(collection), version)}/content"
        return Download(self._api, path, self._reporter, size=int(version["size"]), sha256=str(version["sha256"]))

    @staticmethod
    def _complete(part: Part, download: Download) -> None:
        digest = hashlib.sha256()
        while piece := part.file.read(PIECE):
            digest.update(piece)
        try:
            for piece in download.pieces(part.file.tell(), digest):
                part.file.write(piece)
        except ClientError as error:
            if error.status == BROKEN:  # wrong bytes are of no use the next time
                part.delete()
            raise
        sync(part.file)

    def _write_decoded(self, part: Part, path: str, *, keep: str) -> None:
        part.file.seek(0)
        with replacing(path) as to:
            to.writelines(self._decoding.undo(iter(lambda: part.file.read(PIECE), b""), keep=keep))
        part.delete()
