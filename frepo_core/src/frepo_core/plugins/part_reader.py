"""The contract of readers of parts: a table of a dump, a file of an archive."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

from .settings import require_callable


class NotListable(Exception):
    """The parts of a content cannot be listed. The text says why, in one sentence for a person."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a content.

    - `name`: with `/` between folders, or between a schema and a table. It is a text, never a path: it may be anything.
    - `kind`: `table`, `file`, `folder`, `link`, `hard link`, or another word for people.
    - `size`: how many bytes `extract` yields, or, if that is not known, those it has in the content.
    - `rows`: of a table, None if they were not counted. `mode` and `modified` (seconds since 1970): of a file.
    - `target`: where a link leads.
    - `refusal`: why it cannot be given alone, in one sentence; empty if it can.
    - `place`: what `extract` needs to find it; values of JSON, a few hundred bytes.
    """

    name: str
    kind: str = "file"
    size: int = 0
    rows: int | None = None
    mode: int | None = None
    modified: int | None = None
    target: str = ""
    refusal: str = ""
    place: Any = None


ListFunction: TypeAlias = Callable[[BinaryIO], Iterator[Part]]
ExtractFunction: TypeAlias = Callable[[BinaryIO, Part], Iterator[bytes]]


@dataclass(frozen=True, kw_only=True)
class PartReader:
    """A reader of one format: it lists the parts of a content, and gives one of them.

    - `name`: unique among all readers. `label`: what people call the format.
    - `recognizes`: gets the first 4,096 bytes, unpacked if the content is gzip or Zstandard as a whole.
    - `list`: yields the parts of a content, in order. It is called in a process of its own, with limits on time and
      memory, and without settings. It gets a file that can seek; seeking backwards in a packed content costs reading
      again. Raises `NotListable`, also for a content that is not whole.
    - `extract`: yields the bytes of a part that `list` has yielded, at most `part.size` if it knows that. It gets the
      same content in the process of the service, so it must be bounded whatever the content is.
    - `suffix`: the end of the file name for a part that is a table, such as `.sql`.
    """

    name: str
    label: str
    recognizes: Callable[[bytes], bool]
    list: ListFunction
    extract: ExtractFunction
    suffix: str = ""

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError`."""
        require_callable("recognizes", self.recognizes)
        require_callable("list", self.list)
        require_callable("extract", self.extract)


@dataclass(frozen=True, kw_only=True)
class BoundPartReader:
    """A reader of some plug-in, for the one that lists contents. `plugin` is the name of its entry point."""

    plugin: str
    reader: PartReader
