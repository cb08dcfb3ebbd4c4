"""Getting a version into a file or into a command."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

from ..errors import BROKEN, ClientError, CommandFailedError
from ..programs import into, through
from ..reporter import Reporter
from ..server.api import Api
from .download import PIECE, Download
from .layers import find_layer, undo_layers


@dataclass(frozen=True)
class Decoding:
    """How to undo encryption and compression. `raw` leaves the bytes as they are."""

    raw: bool = False
    identities: Sequence[str] = ()

    def undo(self, pieces: Iterator[bytes], *, keep: str = "") -> Iterator[bytes]:
        """Yield the content."""
        return pieces if self.raw else undo_layers(pieces, identities=self.identities, keep=keep)

    def changes(self, path: str, *, keep: str) -> bool:
        """Whether a file has something to undo."""
        with open(path, "rb") as file:
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
        folder, name = os.path.split(os.path.abspath(path))
        part = os.path.join(folder, f".{name}.{download.sha256[:16]}.part")
        try:
            self._complete(part, download)
            if self._decoding.changes(part, keep=name):
                with _decoded(part, os.path.join(folder, f".{name}.decoded"), self._decoding, keep=name) as ready:
                    os.replace(ready, path)
                os.remove(part)
            else:
                os.replace(part, path)
        except OSError as error:
            raise CommandFailedError(f"{path} cannot be written: {error.strerror}") from None

    def _download(self, collection: str, version: dict[str, Any]) -> Download:
        return Download(self._api, self._api.collection_id(collection), version, self._reporter)

    def _complete(self, part: str, download: Download) -> None:
        digest = hashlib.sha256()
        with open(os.open(part, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
            try:
                for piece in download.pieces(file.tell(), digest):
                    file.write(piece)
            except ClientError as error:
                if error.status == BROKEN:  # wrong bytes are of no use the next time
                    os.remove(part)
                raise
            file.flush()
            os.fsync(file.fileno())


@contextlib.contextmanager
def _decoded(part: str, decoded: str, decoding: Decoding, *, keep: str) -> Iterator[str]:
    """Yield the path of a file with the content without encryption and compression."""
    try:
        with open(part, "rb") as source, open(
            os.open(decoded, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb"
        ) as to:
            to.writelines(decoding.undo(iter(lambda: source.read(PIECE), b""), keep=keep))
            to.flush()
            os.fsync(to.fileno())
        yield decoded
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(decoded)
