"""The contract of engines of restore tests: they restore a backup in a box, and answer questions about the copy."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias

from .settings import require_callable


class NotRestored(Exception):
    """The content does not load. The text says why, in one sentence for a person. The version is broken then."""


class NotDecided(Exception):
    """It cannot be found out here, such as without an extension. The text says what is missing and what to install."""


@dataclass(frozen=True, kw_only=True)
class RestoreSource:
    """What an engine restores, in the box.

    - `content`: a file that cannot seek. gzip, bzip2, xz and Zstandard around the whole are undone.
    - `packed`: the same as it was uploaded. Read only one of both.
    - `name`: the file name of the collection. It is a text, never a path.
    - `version`: of the engine, such as `15`; empty without one.
    - `folder`: empty, writable, and deleted afterwards. `TMPDIR` is in it.
    - `command`: the words of the setting `restore_tests.command`.
    """

    content: BinaryIO
    packed: BinaryIO
    name: str
    version: str
    folder: Path
    command: Sequence[str] = ()


class RestoredCopy(Protocol):
    """A restored copy, which runs."""

    def ask(self, question: str) -> object:
        """Return a number, or a time as a `datetime` or as text, or None for nothing.

        Raises `ValueError` for a question that cannot be answered, with a sentence for a person.
        """

    def tables(self) -> Mapping[str, bool]:
        """Return the names of what may become empty, such as tables, each with whether something is in it."""

    @property
    def note(self) -> str:
        """Return what was left out, in one sentence; empty for nothing."""


@dataclass(frozen=True, kw_only=True)
class PlainCopy:
    """A restored copy that answers nothing."""

    note: str = ""

    def ask(self, question: str) -> object:
        """Raise `ValueError`."""
        raise ValueError("this engine answers no questions")

    def tables(self) -> Mapping[str, bool]:
        """Return nothing."""
        return {}


Restore: TypeAlias = Callable[[RestoreSource], AbstractContextManager[RestoredCopy]]


@dataclass(frozen=True, kw_only=True)
class RestoreEngine:
    """An engine of restore tests. It runs in the box: in a process of its own, without settings and without a service.

    - `name`: unique among all engines. `label`: what people call it.
    - `restore`: gets a `RestoreSource`, and returns a context manager: entering it restores the content and returns a
      `RestoredCopy`, leaving it ends what it has started. Raises `NotRestored` and `NotDecided`.
    - `language`: what assertions are written in, such as `SQL`; empty if there are none.
    - `needs_version`: whether collections choose it with a version, such as `postgresql:15`.
    """

    name: str
    label: str
    restore: Restore
    language: str = ""
    needs_version: bool = False

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError`."""
        require_callable("restore", self.restore)
