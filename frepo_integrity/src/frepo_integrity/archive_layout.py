"""Looks into an archive whose layout says that it is one backup.

Other archives contain whatever somebody has kept: a cut dump among them does not make them broken.
"""

import re
from collections.abc import Callable

from . import detection
from .byte_stream import ByteStream
from .formats.dumps import pg_custom
from .outcomes import BrokenContent, NotCheckable, Report

InspectMember = Callable[[ByteStream, str], Report]

# The files of `pg_dump -Fd` and `-Ft`: the data of one table each, and large objects.
_PG_DATA = re.compile(r"\d{3,7}\.dat(?:\.gz|\.lz4|\.zst)?|blob_\d+\.dat(?:\.gz|\.lz4|\.zst)?|blobs(?:_\d+)?\.toc")
_PG_CONTENTS, _PG_SCRIPT = "toc.dat", "restore.sql"
# Those of `gitlab-backup create`.
_GITLAB = "backup_information.yml"
# Those of mydumper: the file that it names at its end, and its data.
_MYDUMPER_METADATA = ("metadata", "metadata.partial")
_MYDUMPER_DATA = re.compile(r".+\.(?:sql|dat|json|csv)(?:\.gz|\.zst)?|.+-metadata|.+-checksum")
_GITLAB_PARTS = re.compile(r"db/\w*database\.sql\.gz|\w+\.tar\.gz")


class _Mydumper:
    """Whether an archive is one folder of mydumper, which renames `metadata.partial` to `metadata` at its end."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._is_alone = True
        self._found: set[str] = set()

    def look(self, name: str) -> None:
        """Note a file. Other archives may hold what was left of a dump long ago."""
        folder, _, base = name.rpartition("/")
        self._folder = folder if self._folder is None else self._folder
        if base in _MYDUMPER_METADATA:
            self._found.add(base)
        elif not _MYDUMPER_DATA.fullmatch(base):
            self._is_alone = False
        self._is_alone = self._is_alone and folder == self._folder

    @property
    def has_not_ended(self) -> bool:
        """Whether the archive is one folder of a dump that was still being written."""
        return self._is_alone and self._found == {_MYDUMPER_METADATA[1]}


class ArchiveLayout:
    """Looks at the members of an archive, one after the other."""

    def __init__(self, inspect_member: InspectMember | None, is_on: Callable[[str], bool]) -> None:
        self._inspect_member = inspect_member
        self._is_on = is_on
        self._files = self._pg_data = self._pg_contents = self._others = 0
        self._database = ""
        self._is_gitlab = self._was_skipped = False
        self._first: Report | BrokenContent | None = None
        self._broken: BrokenContent | None = None
        self._mydumper = _Mydumper()

    @property
    def has_files(self) -> bool:
        """Whether there are other members than folders."""
        return self._files > 0

    def look(self, name: str, member: ByteStream) -> None:
        """Look at a file. What it is shows at the end only."""
        name = name.removeprefix("./")
        base = name.rpartition("/")[2]
        self._files += 1
        if base == _PG_CONTENTS and (head := member.peek(detection.HEAD)).startswith(pg_custom.START):
            self._pg_contents += 1
            self._database = pg_custom.read_database(head)
        elif _PG_DATA.fullmatch(base):
            self._pg_data += 1
        elif base != _PG_SCRIPT:
            self._others += 1
        self._is_gitlab |= name == _GITLAB
        self._mydumper.look(name)
        if self._files == 1 and detection.promises_backup(base, is_packed=False):
            self._first = self._inspect(member, base)
        elif _GITLAB_PARTS.fullmatch(name):
            found = self._inspect(member, base)
            self._broken = self._broken or (found if isinstance(found, BrokenContent) else None)

    def _inspect(self, member: ByteStream, name: str) -> Report | BrokenContent | None:
        if self._inspect_member is None:
            self._was_skipped = True
            return None
        try:
            return self._inspect_member(member, name)
        except BrokenContent as broken:
            return broken
        except NotCheckable:
            return None

    def judge(self, whole: Report) -> Report:
        """Return the report about an archive, of which only `whole` is known so far. Raises `BrokenContent`."""
        (kind,) = whole.kinds
        found = self._first if self._files == 1 else self._broken if self._is_gitlab else None
        if isinstance(found, BrokenContent):
            raise found.inside(kind)
        if self._was_skipped and (self._files == 1 or self._is_gitlab):
            return Report(outcome="pending", message=f"What is in the {kind} archive is checked later", kinds=(kind,))
        if found is not None:
            return found.inside(kind) if found.outcome == "good" else whole
        if self._mydumper.has_not_ended and self._is_on("sql"):
            message = "It looks like a dump of mydumper that had not ended: it has metadata.partial, and no metadata"
            raise BrokenContent("sql", message, (kind, "sql"), verdict="suspicious")
        if self._others or not self._is_on("pgdump"):
            return whole
        if self._pg_contents == 1:
            return Report(
                outcome="good",
                message=f"The dump of pg_dump is whole, it has {self._files} files",
                kinds=(kind, "pgdump"),
                covers="content",
                label="PostgreSQL archive",
                database=self._database,
            )
        if self._pg_data and not self._pg_contents:
            message = f"It looks like a dump of pg_dump -Fd without {_PG_CONTENTS}, which pg_dump writes last"
            raise BrokenContent("pgdump", message, (kind, "pgdump"), verdict="suspicious")
        return whole
