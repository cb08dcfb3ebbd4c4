"""Lists a content in a process of its own, which has limits and no settings: contents are made by others.

The process asks for pieces of the content over its standard output, and gets them over its standard input. It makes
a further process for each content, which has the limits, so that starting Python once is enough for many.
"""

import contextlib
import gzip
import io
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from typing import Any, BinaryIO, NoReturn, cast

from frepo_core.plugins import BoundPartReader, NotListable, Part, PartReader

from .listing_host import KEPT, host

MAX_PARTS, MAX_NAME = 200_000, 4096
UNKNOWN = "Its format has no reader of parts"
TOO_MANY = "It has too many parts to list"
# A list in JSON packs to a tenth or less.
UNPACKED = 16
_ASK, _DONE, _FAILED = b"A", b"D", b"F"
_REQUEST, _SIZE = struct.Struct(">cQI"), struct.Struct(">I")
_PIECE = 256 << 10
_FROM_ELSEWHERE = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM}


class NotListedNow(OSError):
    """There is no list, for a reason that passes and says nothing of the content. Nothing is kept."""


if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEAD = 4096
FAILURES = (EOFError, OSError, zlib.error, zstd.ZstdError)
_COMPRESSED = {
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
# The first packets of OpenPGP are session keys (RFC 4880, 5.1 and 5.3).
_ENCRYPTED = (
    *(b"age-encryption.org/", b"-----BEGIN AGE", b"-----BEGIN PGP MESSAGE", b"Salted__"),
    *(
        b"\x85\x01\x0c",
        b"\x85\x02\x0c",
        b"\x85\x01\x8c",
        b"\x84\x5e\x03",
        b"\x8c\x0d\x04",
        b"\xc3\x0d\x04",
        b"\xc1\xc0",
    ),
)


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return the content itself, or what gzip or Zstandard has packed: seeking backwards there reads it again.

    Raises `NotListable` for other compressions, and for what is encrypted.
    """
    head = file.read(32)
    file.seek(0)
    if head.startswith(b"\x1f\x8b\x08"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return cast(BinaryIO, zstd.ZstdFile(file))
    for start, name in _COMPRESSED.items():
        if head.startswith(start):
            raise NotListable(f"It was compressed as a whole by its sender, with {name}; gzip and Zstandard are read")
    if head.startswith(_ENCRYPTED):
        raise NotListable("It is encrypted, so nobody but its owner can list it")
    return file


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits for one list: bytes of memory, seconds of the processor, and bytes of the packed list."""

    memory: int
    seconds: float
    size: int


def list_content(
    file: BinaryIO, size: int, readers: Sequence[BoundPartReader], limits: Limits, tick: Callable[[], object]
) -> bytes:
    """Return the list of a seekable content as packed JSON: its reader and parts, or the reason why there is none.

    `tick` is called often; what it and the content raise ends the process, and is raised. What its first bytes show to
    be no dump and no archive needs no process.
    """
    if reason := _find_refusal(file, readers):
        return refused(reason)
    plugins = sorted({one.plugin for one in readers})
    given = {"size": size, "plugins": plugins, "memory": limits.memory, "seconds": limits.seconds}
    given["limit"] = limits.size
    with host(__name__, 4 * limits.seconds + 60) as process:
        return _serve(process, file, size, json.dumps(given).encode(), tick)


def may_have_parts(file: BinaryIO, readers: Sequence[BoundPartReader]) -> bool:
    """Whether a content begins like one that a reader lists."""
    return not _find_refusal(file, readers)


def _find_refusal(file: BinaryIO, readers: Sequence[BoundPartReader]) -> str:
    """Return why a content has no list, as far as its first bytes say so; empty if it has to be read."""
    try:
        if unpacked(file) is not file:
            return ""
    except NotListable as reason:
        return str(reason)
    head = file.read(HEAD)
    file.seek(0)
    return "" if any(one.reader.recognizes(head) for one in readers) else UNKNOWN


def _serve(
    process: "subprocess.Popen[bytes]", file: BinaryIO, size: int, given: bytes, tick: Callable[[], object]
) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError, EOFError):
        _send(process.stdin, given)
        while True:
            tick()
            kind, start, length = _REQUEST.unpack(_receive(process.stdout, _REQUEST.size))
            if kind == _DONE:
                return _receive(process.stdout, length)
            if kind == _FAILED:
                process.wait()  # it ends, and must not be kept for the next content
                return _failed(length)
            _send(process.stdin, _piece(file, start, min(length, _PIECE, size - start)))
    raise NotListedNow("The process that makes the list was ended before it had it")


def _piece(file: BinaryIO, start: int, length: int) -> bytes:
    """Return a piece of the content. Raises `NotListedNow` if the content ends before it should."""
    file.seek(start)
    data = b""
    while len(data) < length:
        if not (more := file.read(length - len(data))):
            raise NotListedNow(f"The content ends early: after {start + len(data)} bytes")
        data += more
    return data


def _failed(number: int) -> bytes:
    """Return the list of a content whose process has ended by a signal, or by an exception: 0.

    Raises `NotListedNow` for signals that come from elsewhere, such as the end of the service, or of its memory.
    """
    if number in _FROM_ELSEWHERE:
        raise NotListedNow("The process that makes the list was ended before it had it")
    what = "memory or time" if number in {signal.SIGXCPU, 0} else "than a process may do"
    return refused(f"Its list needs more {what} (parts.memory, parts.seconds)")


def refused(reason: str) -> bytes:
    """Return the list of a content that has none."""
    return zlib.compress(json.dumps({"reason": reason}).encode())


def _send(pipe: Any, data: bytes) -> None:
    pipe.write(_SIZE.pack(len(data)) + data)
    pipe.flush()


def _receive(pipe: Any, size: int) -> bytes:
    data: bytes = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


class _Remote(io.RawIOBase):
    """The content, of which the other process gives pieces."""

    def __init__(self, size: int) -> None:
        self._size, self._position = size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        if self._position >= self._size:
            return 0
        _answer(_ASK, self._position, min(len(buffer), _PIECE))
        data = _received()
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def _answer(kind: bytes, start: int, length: int, data: bytes = b"") -> None:
    sys.stdout.buffer.write(_REQUEST.pack(kind, start, length) + data)
    sys.stdout.buffer.flush()


def _received() -> bytes:
    pipe = sys.stdin.buffer
    return _receive(pipe, _SIZE.unpack(_receive(pipe, _SIZE.size))[0])


def main() -> None:
    """List the contents that the other process has, one after the other, until none comes for a while."""
    os.nice(10)  # requests come first
    with contextlib.suppress(EOFError):  # the other process has ended
        while select.select([sys.stdin], [], [], KEPT)[0]:
            given = json.loads(_received())
            readers = _load(tuple(given["plugins"]))
            child = os.fork()
            if child == 0:
                _list_and_exit(given, readers)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code:
                _answer(_FAILED, 0, max(-code, 0))
                return  # what is in the pipe was for the one that has failed


@lru_cache
def _load(plugins: tuple[str, ...]) -> list[PartReader]:
    found = [
        reader
        for entry in entry_points(group="frepo")
        if entry.name in plugins
        for reader in entry.load().frepo_part_readers()
    ]
    for reader in found:
        with contextlib.suppress(Exception):
            reader.recognizes(b"")  # it imports what it needs, once for all contents
    return found


def _list_and_exit(given: Mapping[str, Any], readers: Sequence[PartReader]) -> NoReturn:
    code = 1
    try:
        _list(given, readers)
        code = 0
    finally:
        os._exit(code)


def _list(given: Mapping[str, Any], readers: Sequence[PartReader]) -> None:
    """List the content that the other process has, with limits. The answer is the packed list."""
    seconds = max(1, int(given["seconds"]))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (given["memory"], given["memory"]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        packed = _listed(cast(BinaryIO, io.BufferedReader(_Remote(given["size"]), _PIECE)), readers, given["limit"])
    except NotListable as reason:
        packed = refused(str(reason))
    except MemoryError:
        packed = refused(TOO_MANY)
    except FAILURES as error:
        packed = refused(f"It is damaged: {error}"[:300])
    _answer(_DONE, 0, len(packed), packed)


def _listed(file: BinaryIO, readers: Sequence[Any], limit: int) -> bytes:
    content = unpacked(file)
    head = content.read(HEAD)
    content.seek(0)
    for reader in readers:
        if reader.recognizes(head):
            rows = list(_rows(reader.list(content)))
            break
    else:
        raise NotListable(UNKNOWN)
    text = json.dumps({"reader": reader.name, "parts": rows}, separators=(",", ":")).encode()
    packed = zlib.compress(text, 6)
    if len(packed) > limit or len(text) > UNPACKED * limit:
        raise NotListable(TOO_MANY)
    return packed


def _rows(parts: Iterator[Part]) -> Iterator[list[Any]]:
    for number, one in enumerate(parts):
        if number == MAX_PARTS or len(one.name.encode("utf-8", "replace")) > MAX_NAME:
            raise NotListable(TOO_MANY)
        yield [one.name, one.kind, one.size, one.rows, one.mode, one.modified, one.target, one.refusal, one.place]


if __name__ == "__main__":
    main()
