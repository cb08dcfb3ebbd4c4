"""Inspects a zip archive: its members, and what is in it if it contains one backup only, as `dump | zip` makes."""

from collections.abc import Callable
from typing import BinaryIO

from . import detection
from .budget import Budget
from .byte_stream import ByteStream
from .formats import zip_directory, zip_members
from .outcomes import BrokenContent, EmptyContent, NotCheckable, Report

InspectMember = Callable[[ByteStream, str], Report]
# The name that zip gives to its standard input.
_PIPED = "-"


def inspect_zip(file: BinaryIO, size: int, name: str, budget: Budget, memory: int, inspect: InspectMember) -> Report:
    """Check every member of the archive, which has this name. A single backup in it is inspected, too.

    Raises `BrokenContent`, `NotCheckable` and `BoundReached`.
    """
    found: list[Report | BrokenContent] = []

    def look(content: ByteStream, member: str) -> None:
        if not content.peek(1):
            found.append(EmptyContent("zip", "The zip archive is whole, but there is nothing in it"))
            return
        inside = detection.inner_name(name) if member == _PIPED else member.rpartition("/")[2]
        if member != _PIPED and not detection.promises_backup(inside, is_packed=False):
            return
        try:
            found.append(inspect(content, inside))
        except BrokenContent as broken:
            found.append(broken)
        except NotCheckable:
            pass

    directory = zip_directory.read_directory(file, size)
    zip_members.check_members(file, directory, budget, memory, look if directory.entries == 1 else None)
    for one in found:
        if isinstance(one, BrokenContent):
            raise one if one.kind == "zip" else one.inside("zip")
        if one.outcome == "good":
            return one.inside("zip")
    return Report(outcome="good", message="The zip archive is whole", kinds=("zip",))
