"""What a format that is checked in one pass has: how it is recognized, and how it is read to its end."""

from collections.abc import Callable
from dataclasses import dataclass

from ..budget import Budget
from ..byte_stream import ByteStream
from ..outcomes import BrokenContent, Covers

CHUNK = 256 << 10
# What gzip, xz and others make of nothing has at most so many bytes, and no dump or archive has so few.
LITTLE = 32


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format that is read once from its start to its end, so that it is checked inside a compression, too.

    `kind` is its name in the settings, `label` what people call it, `suffixes` are the ends of its file names.
    `recognizes` gets the first 4,096 bytes, and `database` returns the name of the database that they give, or an empty
    text. `check` returns a sentence about a whole content; it raises `BrokenContent`, or `NotCheckable` for a variant
    that it does not know. `covers` says whether it sees the end of a backup, or only that of what it is packed in.
    """

    kind: str
    label: str
    suffixes: tuple[str, ...]
    recognizes: Callable[[bytes], bool]
    check: Callable[[ByteStream, Budget], str]
    covers: Covers = "content"
    database: Callable[[bytes], str] = lambda head: ""


class Reader:
    """Reads the parts of one format. An early end is a broken content."""

    def __init__(self, source: ByteStream, budget: Budget, kind: str, what: str) -> None:
        """`what` names the content in messages, such as "the cpio archive"."""
        self._source, self._budget, self._kind, self._what = source, budget, kind, what

    @property
    def offset(self) -> int:
        """How many bytes were read."""
        return self._source.offset

    def take(self, size: int, part: str) -> bytes:
        """Return the next `size` bytes, a few thousand at most. `part` names them if they are missing."""
        self._budget.spend()
        data = self._source.read(size)
        if len(data) < size:
            raise self.ends_within(part)
        return data

    def number(self, size: int, part: str) -> int:
        """Return an unsigned number of `size` bytes, the lowest first."""
        return int.from_bytes(self.take(size, part), "little")

    def skip(self, size: int, part: str, use: Callable[[bytes], object] | None = None) -> None:
        """Read over `size` bytes; `use` is called with each piece."""
        left = size
        while left:
            self._budget.spend()
            if use is None:
                done = self._source.skip(min(left, CHUNK))
            else:
                data = self._source.take(min(left, CHUNK))
                use(data)
                done = len(data)
            if not done:
                raise self.ends_within(part)
            left -= done

    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return not self._source.peek(1)

    def check_padding(self) -> None:
        """Read to the end. Only zeros may follow."""
        start = self.offset
        while data := self._source.take():
            self._budget.spend()
            if data.strip(b"\0"):
                raise self.broken(f"bytes that are not zero follow its end, from byte {start} on")

    def ends_within(self, part: str) -> BrokenContent:
        """Return the exception for an early end."""
        return self.broken(f"it ends too early, within {part}, after {self._source.offset} bytes")

    def broken(self, reason: str) -> BrokenContent:
        """Return the exception with a sentence such as "The cpio archive is not whole: ..."."""
        return BrokenContent(self._kind, f"{self._what[:1].upper()}{self._what[1:]} is not whole: {reason}")


def read_all_but(source: ByteStream, budget: Budget, size: int, use: Callable[[bytes], object]) -> bytes:
    """Read to the end, call `use` with each piece but the last `size` bytes, and return those, fewer at a short end."""
    waiting = b""
    while data := source.take():
        budget.spend()
        waiting += data
        if len(waiting) > size:
            use(waiting[:-size])
            waiting = waiting[-size:]
    return waiting
