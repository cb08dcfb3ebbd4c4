"""The engine `tar`: all members are unpacked into the box."""

import posixpath
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy as copy_of
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from frepo_core.plugins import NotDecided, NotRestored, RestoreSource

EndMark: type[Exception] = tarfile.EOFHeaderError  # type: ignore[attr-defined]  # not in typeshed


class _Copy:
    """What was unpacked: the sum of all members, and of those below each folder that is asked for."""

    def __init__(self) -> None:
        self._files: list[tuple[str, int, float]] = []
        self._tops: dict[str, bool] = {}
        self.note = ""

    def add(self, member: tarfile.TarInfo) -> None:
        name = posixpath.normpath(member.name).lstrip("/")
        top = name.partition("/")[0]
        self._tops[top] = self._tops.get(top, False) or not member.isdir()
        if member.isfile():
            self._files.append((name, member.size, member.mtime))

    def ask(self, question: str) -> object:
        what, _, folder = question.strip().partition(" ")
        below = folder.strip().strip("/")
        chosen = [one for one in self._files if not below or one[0] == below or one[0].startswith(f"{below}/")]
        if what == "files":
            return len(chosen)
        if what == "bytes":
            return sum(size for _, size, _ in chosen)
        if what == "newest":
            return datetime.fromtimestamp(max(mtime for *_, mtime in chosen), UTC) if chosen else None
        raise ValueError(f"{what!r:.40} is not files, bytes or newest, each with or without a folder")

    def tables(self) -> Mapping[str, bool]:
        return self._tops


class _Member(tarfile.TarInfo):
    """A member; the class remembers whether the end mark was read, without which tarfile says nothing."""

    is_end_seen = False

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile)
        except EndMark:
            cls.is_end_seen = True
            raise


@contextmanager
def restore_tar(source: RestoreSource) -> Iterator[_Copy]:
    """Unpack the members one after the other. Devices, which need rights, are left out."""
    target = source.folder / "files"
    target.mkdir()
    copy, left_out = _Copy(), 0

    class Member(_Member):
        pass

    try:
        with tarfile.open(fileobj=source.content, mode="r|", errorlevel=1, tarinfo=Member) as archive:
            # Members are unpacked as they are: the box protects. Older versions of Python do not know this.
            archive.extraction_filter = _unchanged
            for member in archive:
                copy.add(member)
                left_out += not _extract(archive, member, target)
    except (tarfile.ReadError, EOFError) as error:
        kind = NotRestored if copy.tables() else NotDecided
        raise kind(f"this is no whole tar archive: {error}") from error
    except tarfile.TarError as error:
        raise NotRestored(f"a member cannot be unpacked: {error}") from error
    if not copy.tables():
        raise NotDecided("this is no tar archive, or it has no members")
    if not Member.is_end_seen:
        raise NotRestored("the archive ends before its end mark")
    copy.note = f"{left_out} devices, and members outside of the folder, were left out" if left_out else ""
    yield copy


def _unchanged(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    return member


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> bool:
    """Unpack a member with plain rights: in a folder that cannot be written, nothing could be unpacked."""
    kept = copy_of(member)
    kept.name = member.name.lstrip("/")
    kept.linkname = member.linkname.lstrip("/") if member.islnk() else member.linkname
    kept.mode = 0o700 if member.isdir() else 0o600
    place = (target / kept.name).parent.resolve()
    if (member.isdev() and not member.isfifo()) or not place.is_relative_to(target.resolve()):
        return False
    archive.extract(kept, target)
    return True
