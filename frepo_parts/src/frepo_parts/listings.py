"""The lists of parts: made once for each content, kept by its digest, and encrypted."""

import contextlib
import json
import os
import secrets
import threading
import zlib
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from frepo_core.plugins import FollowedContent, JobContext, NotFoundError, Part, PartReader, PluginContext

from .listing_process import UNPACKED, Limits, NotListedNow, list_content, may_have_parts
from .tree import Tree

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SMALLEST, LARGEST = 64 << 10, 16 << 20
# A list is at most this share of its content.
SHARE = 16
SPEED = 5_000_000
# A larger number makes all lists anew.
FORMAT = "1"
_NONCE, _REMEMBERED = 12, 4
# Seconds that a request waits for a list that is being made with the check.
_WAIT = 10.0


@dataclass(frozen=True)
class Listing:
    """The parts of a content, or the `reason` why they are not listed. `reader` is None then."""

    reader: PartReader | None
    parts: tuple[Part, ...] = ()
    reason: str = ""

    @cached_property
    def tree(self) -> Tree:
        """The parts with their folders, by number."""
        return Tree(self.parts)


_known: "deque[Listings]" = deque(maxlen=4)
_knowing = threading.Lock()


def listings_of(context: PluginContext | JobContext) -> "Listings":
    """Return the lists of a service: the same ones in its whole process."""
    with _knowing:
        for one in _known:
            if one.serves(context):
                return one
        _known.append(Listings(context))
        return _known[-1]


class Listings:
    """Makes, keeps and finds lists."""

    def __init__(self, context: PluginContext | JobContext) -> None:
        self._context = context
        self._readers = {one.reader.name: one.reader for one in context.service.part_readers()}
        self._remembered: OrderedDict[str, Listing] = OrderedDict()
        self._lock = threading.Lock()
        self._making, self._making_later, self._following = threading.Lock(), threading.Lock(), threading.Lock()
        self._waiting: set[str] = set()
        self._followed: dict[str, threading.Event] = {}

    def serves(self, context: PluginContext | JobContext) -> bool:
        """Whether these are the lists of this service."""
        return self._context.service is context.service

    @property
    def folder(self) -> Path:
        """The folder of the lists."""
        folder: Path = self._context.settings.directory or self._context.service.state_folder / "parts"
        return folder

    def find(self, digest: str) -> Listing | None:
        """Return the list of a content, None if it was not made yet."""
        with self._lock:
            if digest in self._remembered:
                self._remembered.move_to_end(digest)
                return self._remembered[digest]
        packed = self._read(digest)
        return None if packed is None else self._remember(digest, packed)

    def make(self, digest: str, size: int, file: BinaryIO, tick: Callable[[], object] = lambda: None) -> Listing:
        """List a content, and keep the list. Raises what reading the content raises."""
        settings = self._context.settings
        limits = Limits(
            memory=settings.memory,
            seconds=settings.seconds + size / SPEED,
            size=min(max(SMALLEST, size // SHARE), LARGEST),
        )
        packed = list_content(file, size, self._context.service.part_readers(), limits, tick)
        if not self._context.service.is_read_only:
            self._write(digest, packed)
        return self._remember(digest, packed)

    def make_along(self, content: FollowedContent) -> None:
        """List a content while it is checked, unless it has a list, or no reader knows its first bytes.

        Raises what reading raises; nothing is kept then.
        """
        digest, file = content.sha256, content.file
        if not may_have_parts(file, self._context.service.part_readers()):
            return
        with self._lock:
            if digest in self._followed:
                return
            ended = self._followed[digest] = threading.Event()
        try:
            if self.find(digest) is None:
                self.make(digest, content.size, file)
        finally:
            with self._lock:
                del self._followed[digest]
            ended.set()

    def find_or_make(self, digest: str, size: int, open_content: Callable[[], BinaryIO]) -> Listing | None:
        """Return the list of a content; None if it is large, or another is being made: it is made in the background."""
        if (found := self.find(digest)) is not None:
            return found
        if (followed := self._followed.get(digest)) is not None:
            # One waits: each needs a thread of the service.
            if self._following.acquire(blocking=False):
                try:
                    followed.wait(_WAIT)
                finally:
                    self._following.release()
            if (found := self.find(digest)) is not None or not followed.is_set():
                return found
        # One at a time: each needs a processor and memory, and a thread of the service that would wait for its turn.
        if size > self._context.settings.inline_limit or not self._making.acquire(blocking=False):
            self._make_later(digest, size, open_content)
            return None
        try:
            with open_content() as file:
                return self.make(digest, size, file)
        except NotListedNow as error:
            self._context.log.warning("a content cannot be listed now: %s", error)
            return None
        finally:
            self._making.release()

    def _make_later(self, digest: str, size: int, open_content: Callable[[], BinaryIO]) -> None:
        with self._lock:
            if digest in self._waiting:
                return
            self._waiting.add(digest)
        arguments = (digest, size, open_content)
        threading.Thread(target=self._make_waiting, args=arguments, name="parts-list", daemon=True).start()

    def _make_waiting(self, digest: str, size: int, open_content: Callable[[], BinaryIO]) -> None:
        try:
            with self._making_later, open_content() as file:
                if self.find(digest) is None:
                    self.make(digest, size, file)
        except Exception as error:  # noqa: BLE001  # the storage of the content, whatever it raises
            self._context.log.warning("a content cannot be listed now: %s", error)
        finally:
            with self._lock:
                self._waiting.discard(digest)

    def digests(self) -> list[str]:
        """Return the digests of all contents that have a list."""
        return [path.name for path in self.folder.glob("??/*") if len(path.name) == 64]

    def forget(self, digest: str) -> None:
        """Delete a list."""
        with self._lock:
            self._remembered.pop(digest, None)
        with contextlib.suppress(OSError):
            self._path(digest).unlink()

    def _remember(self, digest: str, packed: bytes) -> Listing:
        listing = self._parse(packed)
        with self._lock:
            self._remembered[digest] = listing
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return listing

    def _parse(self, packed: bytes) -> Listing:
        found = json.loads(zlib.decompressobj().decompress(packed, UNPACKED * LARGEST))
        reader = self._readers.get(found.get("reader", ""))
        if reader is None:
            return Listing(None, (), found.get("reason", "The plug-in that has listed it is switched off"))
        names = ("name", "kind", "size", "rows", "mode", "modified", "target", "refusal", "place")
        return Listing(reader, tuple(Part(**dict(zip(names, row, strict=True))) for row in found["parts"]))

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def _read(self, digest: str) -> bytes | None:
        """Return a list. One of another format, of other secrets, or a damaged one is made again."""
        from cryptography.exceptions import InvalidTag

        try:
            data = self._path(digest).read_bytes()
            return self._cipher().decrypt(data[:_NONCE], data[_NONCE:], f"{FORMAT} {digest}".encode())
        except (OSError, InvalidTag, ValueError):
            return None

    def _write(self, digest: str, packed: bytes) -> None:
        nonce = secrets.token_bytes(_NONCE)
        data = nonce + self._cipher().encrypt(nonce, packed, f"{FORMAT} {digest}".encode())
        path = self._path(digest)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(data)
            partial.replace(path)
        except OSError as error:  # a full disk: the list is made again
            self._context.log.warning("a list of parts cannot be kept: %s", error)
            with contextlib.suppress(OSError):
                partial.unlink()

    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._context.service.derive_key("lists of parts"))


def part_of(listing: Listing, number: int) -> Part:
    """Return a part by its number. Raises `NotFoundError`, also for a folder that the content only implies."""
    if not 1 <= number <= len(listing.parts):
        raise NotFoundError(f"The content has no part with the number {number}")
    return listing.parts[number - 1]
