"""Contents between the service and the user's files: progress bars, uploads from stdin, downloads that are complete."""

import contextlib
import errno
import io
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self, TextIO

from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FieldsError

from ..progress import BAR_SECONDS, LINE_SECONDS, WIDTH

STDIO = "-"
PIECE = 1 << 20
NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.ENOSYS}  # exFAT, and some CIFS servers
_SOURCE, _TARGET = "<file>", "--output"


class TransferBar:
    """Shows how many bytes were transferred: a bar on a terminal, a line every ten seconds elsewhere.

    Writes to stderr, because stdout may be the content. `total` is None if the size is unknown.
    """

    def __init__(self, what: str, total: int | None, stream: TextIO | None = None) -> None:
        self._what = what
        self._total = total
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._began = self._shown = time.monotonic()
        self._done = 0

    def add(self, size: int) -> None:
        """Count bytes; update the display if the last update is long enough ago."""
        self._done += size
        now = time.monotonic()
        if now - self._shown >= (BAR_SECONDS if self._is_terminal else LINE_SECONDS):
            self._shown = now
            self._show(now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal:
            self._show(time.monotonic())
            self._stream.write("\n")

    def _show(self, now: float) -> None:
        text = self._describe(max(now - self._began, 1e-6))
        self._stream.write(f"\r{text}\x1b[K" if self._is_terminal else f"{text}\n")
        self._stream.flush()

    def _describe(self, seconds: float) -> str:
        rate = f"{readable_size(int(self._done / seconds))}/s"
        if not self._total:
            return f"{self._what}: {readable_size(self._done)}, {rate}"
        left = int(seconds / max(self._done, 1) * max(self._total - self._done, 0))
        bar = "#" * min(WIDTH * self._done // self._total, WIDTH)
        sizes = f"{readable_size(self._done)} of {readable_size(self._total)}"
        return (
            f"{self._what} [{bar:<{WIDTH}}] {sizes}, {rate}, {left // 3600:02}:{left // 60 % 60:02}:{left % 60:02} left"
        )


class MeteredStream:
    """A content that counts what is read of it. It cannot be read twice, as stdin, so the service copies it once."""

    def __init__(self, stream: BinaryIO, bar: TransferBar) -> None:
        self._stream = stream
        self._bar = bar

    def read(self, size: int = -1) -> bytes:
        """Read up to `size` bytes. Raises `OSError`."""
        data = self._stream.read(size)
        self._bar.add(len(data))
        return data


@contextlib.contextmanager
def source(name: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """Open a file to upload, or stdin for `-`; yield it and its size in bytes, None if that is unknown.

    Raises `FieldsError` if there is no such file, and if stdin is a terminal.
    """
    if name == STDIO:
        if sys.stdin.isatty():
            raise FieldsError(
                {_SOURCE: ["- reads the content from stdin, but that is a terminal: use a pipe or a file"]}
            )
        yield sys.stdin.buffer, None
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  # closed below
    except OSError as error:
        raise FieldsError({_SOURCE: [f"{name!r} cannot be read: {error.strerror}"]}) from error
    with file:
        size = os.fstat(file.fileno()).st_size if file.seekable() else None
        yield file, size


@contextlib.contextmanager
def target(name: str, *, replaces: bool, option: str = _TARGET) -> Iterator[BinaryIO]:
    """Open a file for a download, or stdout for `-`. The file gets its name at the end, when all of it is on the disk.

    If the body of the `with` statement raises, no file is left. Only its owner can read it (mode 0600). Raises
    `FieldsError` for `option` if it cannot be written, and if it exists, unless `replaces`.
    """
    if name == STDIO:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    final = Path(name)
    if final.is_dir():
        raise FieldsError({option: [f"{name!r} is a folder: name a file in it"]})
    if not replaces and final.exists():
        raise FieldsError({option: [f"{name!r} exists: choose another name, or replace it with --force"]})
    partial = final.with_name(f".{final.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with io.FileIO(descriptor, "w") as file:
                yield file
                os.fsync(descriptor)
            _name(partial, final, replaces=replaces)
        finally:
            partial.unlink(missing_ok=True)
    except FileExistsError:
        raise FieldsError({option: [f"{name!r} was made meanwhile, and was not replaced"]}) from None
    except OSError as error:
        raise FieldsError({option: [f"{name!r} cannot be written: {error.strerror}"]}) from error


def copy(content: BinaryIO, file: BinaryIO, bar: TransferBar) -> None:
    """Write a whole content to a file."""
    shutil.copyfileobj(MeteredStream(content, bar), file, PIECE)


def _name(partial: Path, final: Path, *, replaces: bool) -> None:
    """Give the file its name, and make that durable. Raises `FileExistsError` if the name is taken meanwhile."""
    if replaces:
        partial.replace(final)
    else:
        try:
            os.link(partial, final)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            partial.rename(final)
    descriptor = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
