"""Decodes contents, and parts of them, for clients: a few at a time, so that the memory for it is bounded."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import BinaryIO, Self, cast

from frepo_core.services.content.decoder_memory import DecoderWait, Line
from frepo_core.services.content.encodings import EncodedParts
from frepo_core.services.content.ingest import Ingest

from .spooled_part import SpooledParts

# So many whole contents are decoded at a time, and so many parts: a whole one takes longer.
WHOLES, PARTS = 2, 2
# What is larger counts as a whole content.
LARGEST_PART = 16 << 20
_BUSY = "This process reads as many compressed contents as its memory allows, send this request again later"
_PIECE = 1 << 20


class DecodedParts(EncodedParts):
    """The parts of one reader. At most four are open at a time: each takes up to 64 MiB of memory."""

    def __init__(self, spool: Ingest | None) -> None:
        """With `spool`, its folder has the files from which downloads are sent."""
        self._spools = SpooledParts(spool.directory, spool.held) if spool else None
        self._wholes, self._parts = Line(WHOLES, _BUSY), Line(PARTS, _BUSY)

    @property
    def is_restoring(self) -> bool:
        """Whether whole contents are decoded for clients of this process, or wait for that."""
        return self._wholes.is_used

    def open(
        self,
        open_content: Callable[[], BinaryIO],
        start: int,
        length: int | None,
        *,
        size: int,
        wait: DecoderWait,
        is_spooled: bool,
    ) -> BinaryIO:
        """Open a part, as the port says."""
        line = self._wholes if size > LARGEST_PART else self._parts
        line.take(1, wait)
        release = partial(line.give_back, 1)
        with ExitStack() as failed:
            failed.callback(release)
            content = failed.enter_context(open_content())
            content.seek(start)
            part = self._spools.new(start, size) if self._spools and is_spooled else None
            failed.pop_all()  # the part closes the content, and frees its place
        if part is None:
            return cast(BinaryIO, _Part(content, length, release))
        part.fill(content, line.move, release)
        return cast(BinaryIO, part)


class _Part:
    """A stream of a part of a seekable content. Closing it frees its place among the readers."""

    def __init__(self, content: BinaryIO, length: int | None, release: Callable[[], object]) -> None:
        self._content = content
        self._left = length
        self._release: Callable[[], object] | None = release

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes, or all if it is negative."""
        if size < 0:
            return b"".join(iter(partial(self.read, _PIECE), b""))
        data = self._content.read(size if self._left is None else min(size, self._left))
        if self._left is not None:
            self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the content."""
        release, self._release = self._release, None
        if release is not None:
            try:
                self._content.close()
            finally:
                release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
