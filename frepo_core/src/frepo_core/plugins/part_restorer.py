"""The contract of what gives parts of a content to `frepo restore`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .context import PluginContext
from .settings import require_callable


@dataclass(frozen=True, kw_only=True)
class OpenedContent:
    """A content of which a part is restored: a seekable `file` of `size` bytes, its SHA-256 and its name."""

    file: BinaryIO
    size: int
    sha256: str
    name: str


@dataclass(frozen=True, kw_only=True)
class FoundPart:
    """A part to write to one file: the name for it, its size in bytes (None: unknown), and its bytes."""

    name: str
    size: int | None
    chunks: Iterator[bytes]


@dataclass(frozen=True, kw_only=True)
class PartRestorer:
    """What gives parts to `frepo restore NAME --table NAME` and `--path PATH`.

    - `table`: returns one table of a content. Raises `NotFoundError`, which names those that are like it.
    - `path`: writes a file or a folder of a content below a folder, which is empty, and returns sentences for people:
      what was written, and what was left out. Raises `NotFoundError`.
    """

    name: str
    table: Callable[[OpenedContent, str, PluginContext], FoundPart]
    path: Callable[[OpenedContent, str, Path, PluginContext], Sequence[str]]

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError`."""
        require_callable("table", self.table)
        require_callable("path", self.path)
