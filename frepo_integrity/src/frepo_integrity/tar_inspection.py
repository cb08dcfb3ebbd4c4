"""Checks a tar archive, and what is in it where its layout says that the archive is one backup."""

from collections.abc import Callable

from .archive_layout import ArchiveLayout, InspectMember
from .budget import Budget
from .byte_stream import ByteStream
from .formats.tar_archive import check_tar
from .outcomes import Report


def inspect_tar(
    source: ByteStream, budget: Budget, inspect_member: InspectMember | None, is_on: Callable[[str], bool]
) -> Report:
    """Read the archive to its end. Raises `BrokenContent`.

    Without `inspect_member`, the report is pending if that is needed for this archive. `is_on` says whether a kind is
    checked at all.
    """
    layout = ArchiveLayout(inspect_member, is_on)
    members = check_tar(source, budget, layout.look)
    whole = Report(outcome="good", message=f"The tar archive is whole, it has {members} members", kinds=("tar",))
    return layout.judge(whole)
