"""Inspects a zip archive: its members, and what is in it if it contains one backup only, as `dump | zip` makes."""

from collections.abc import Callable
from typing import BinaryIO

from . import detection
from .archive_layout import ArchiveLayout, InspectMember
from .budget import Budget
from .byte_stream import ByteStream
from .formats import zip_directory, zip_members
from .outcomes import BrokenContent, EmptyContent, NotCheckable, Report

# The name that zip gives to its standard input.
_PIPED = "-"


def inspect_zip(
    file: BinaryIO,
    size: int,
    name: str,
    budget: Budget,
    memory: int,
    inspect: InspectMember,
    is_on: Callable[[str], bool],
) -> Report:
    """Check every member of the archive, which has this name. A single backup in it is inspected, too.

    Raises `BrokenContent`, `NotCheckable` and `BoundReached`.
    """
    directory = zip_directory.read_directory(file, size)
    whole = Report(outcome="good", message="The zip archive is whole", kinds=("zip",))
    if directory.entries == 1:
        single = _Single(name, inspect)
        zip_members.check_members(file, directory, budget, memory, single.look)
        return single.judge(whole)
    layout = ArchiveLayout(inspect, is_on)

    def look(content: ByteStream, member: str) -> None:
        if not member.endswith("/"):
            layout.look(member, content)

    zip_members.check_members(file, directory, budget, memory, look)
    if not layout.has_files:
        raise BrokenContent("zip", "The zip archive has only folders, and no file", verdict="suspicious")
    return layout.judge(whole)


class _Single:
    """Inspects the only member of an archive of this name."""

    def __init__(self, name: str, inspect: InspectMember) -> None:
        self._name = name
        self._inspect = inspect
        self._found: Report | BrokenContent | None = None

    def look(self, content: ByteStream, member: str) -> None:
        """Look at the content."""
        if not content.peek(1):
            self._found = EmptyContent("zip", "The zip archive is whole, but there is nothing in it")
            return
        inside = detection.inner_name(self._name) if member == _PIPED else member.rpartition("/")[2]
        if member != _PIPED and not detection.promises_backup(inside, is_packed=False):
            return
        try:
            self._found = self._inspect(content, inside)
        except BrokenContent as broken:
            self._found = broken
        except NotCheckable:
            pass

    def judge(self, whole: Report) -> Report:
        """Return the report about an archive, of which only `whole` is known so far. Raises `BrokenContent`."""
        if isinstance(self._found, BrokenContent):
            raise self._found if self._found.kind == "zip" else self._found.inside("zip")
        return self._found.inside("zip") if self._found and self._found.outcome == "good" else whole
