"""The settings `integrity.*`."""

import fnmatch
import re
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from frepo_core.plugins import OnFinding, PluginSettings, Seconds, Size

_CUSTOM_FORMAT = "PGDMP"
_COMMAND = re.compile(r"(magic|name|type):(\S+)\s*=\s*(.+)")
# The names of the check and of the job.
NAME, JOB = "integrity", "integrity_deep"
# A check of a second may take ten on a busy host. Then it is left to the job.
WAITING = 10
# A check ends by itself, unless the content cannot be read.
_MORE_SECONDS = 30.0

Action = Literal["off", "mark", "quarantine", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program for contents with these first bytes (`magic`), this file name or this MIME type (both patterns)."""

    by: Literal["magic", "name", "type"]
    pattern: str
    words: tuple[str, ...]

    @property
    def program(self) -> str:
        """The name of the program, without its folder."""
        return PurePosixPath(self.words[0]).name

    def is_for(self, head: bytes, name: str, mime: str) -> bool:
        """Whether this command checks a content with these first bytes, this name and this type."""
        if self.by == "magic":
            return head.startswith(self.pattern.encode())
        return fnmatch.fnmatchcase((name if self.by == "name" else mime).lower(), self.pattern.lower())


def _commands(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    lines = [line.strip() for line in value.replace(";", "\n").splitlines()]
    return tuple(_command(line, number) for number, line in enumerate(filter(None, lines), start=1))


def _command(line: str, number: int) -> Command:
    match = _COMMAND.fullmatch(line)
    by, pattern, text = match.groups() if match else ("magic", _CUSTOM_FORMAT, line)
    words = tuple(shlex.split(text))
    if not words or "=" in words[0] or ":" in words[0]:
        raise ValueError(
            f"line {number}: write e.g. magic:PGDMP = pg_restore --list, name:*.dmp = PROGRAM or type:TYPE = PROGRAM"
        )
    return Command(by=by, pattern=pattern, words=words)  # type: ignore[arg-type]  # the pattern allows no other


class IntegritySettings(PluginSettings):
    """`integrity.*`, `INTEGRITY_*`. For each kind: what happens to an upload that is broken, None if it is not set."""

    inline_limit: Size = Field(
        "64MiB",
        validate_default=True,
        description="Contents up to this size are checked completely before the upload is answered; larger ones by a "
        "job.",
    )
    inline_seconds: Seconds = Field(
        1.0,
        description="Seconds of the processor's time that the check of an upload may take. What takes longer, or ten "
        "times as long on a busy host, is checked by the job.",
    )
    threads: int = Field(
        2,
        ge=1,
        le=64,
        description="How many uploads are checked at the same time in each process. Further ones are checked by the "
        "job.",
    )
    deep_seconds: Seconds = Field(
        60.0,
        description="Seconds that the job's check of one version may take, programs included, besides one for each "
        "10 MB. What takes longer is tried again in a later turn, with twice the time. After the third attempt the "
        "version is suspicious.",
    )
    max_output: Size = Field(
        "1TiB",
        ge=1,
        validate_default=True,
        description="Contents that unpack to more than this are not checked further.",
    )
    max_ratio: float = Field(
        1100.0,
        gt=1,
        description="Contents that unpack to more than this many times their size, and to more than 64 MiB, are not "
        "checked further. gzip reaches 1030 with zeros only.",
    )
    keep_last_good: bool = Field(
        False,
        description="Refuse to delete the only good version of a collection, by its tokens and by `frepo`.",
    )
    command: Annotated[tuple[Command, ...], BeforeValidator(_commands)] = Field(
        (),
        description="Programs that the job runs for contents that only they understand, one per line: `magic:PGDMP = "
        "pg_restore --file=/dev/null`. A line without a pattern is for contents that begin with PGDMP.",
    )
    command_seconds: Seconds = Field(3600.0, description="Time limit in seconds for one run of a program.")
    command_memory: Size = Field(
        "1GiB", ge=1 << 20, validate_default=True, description="Memory (address space) that a program may use."
    )
    gzip: Action | None = Field(
        None,
        description="What happens to broken gzip data: `off`, `mark`, `quarantine` or `refuse`; empty: what "
        "`checks.on_broken` says.",
    )
    bzip2: Action | None = Field(None, description="The same for bzip2.")
    xz: Action | None = Field(None, description="The same for xz.")
    zstd: Action | None = Field(None, description="The same for Zstandard.")
    lz4: Action | None = Field(None, description="The same for lz4.")
    zip: Action | None = Field(None, description="The same for zip.")
    tar: Action | None = Field(None, description="The same for tar.")
    sql: Action | None = Field(
        None, description="The same for dumps of mysqldump, mariadb-dump, pg_dump, pg_dumpall and sqlite3 in SQL."
    )
    pgdump: Action | None = Field(None, description="The same for dumps of `pg_dump -Fc`.")
    sqlite: Action | None = Field(None, description="The same for database files of SQLite.")
    rdb: Action | None = Field(None, description="The same for database files of Redis (RDB).")
    etcd: Action | None = Field(None, description="The same for snapshots of etcd.")
    xbstream: Action | None = Field(None, description="The same for streams of mariadb-backup and XtraBackup.")
    cpio: Action | None = Field(None, description="The same for cpio archives.")
    sevenzip: Action | None = Field(None, description="The same for 7z archives.")
    squashfs: Action | None = Field(None, description="The same for images of squashfs.")
    qcow2: Action | None = Field(None, description="The same for disk images of QEMU.")
    bundle: Action | None = Field(None, description="The same for bundles of git.")
    age: Action | None = Field(None, description="The same for files that age has encrypted.")
    openpgp: Action | None = Field(None, description="The same for files that gpg has encrypted.")

    def action(self, kind: str) -> Action | None:
        """Return the action for a kind, None if its setting is not set."""
        return getattr(self, kind) if kind in KINDS else None

    def is_on(self, kind: str) -> bool:
        """Whether this kind is checked."""
        return self.action(kind) != "off"


_OF_A_KIND: Any = Action | None
KINDS = tuple(name for name, field in IntegritySettings.model_fields.items() if field.annotation == _OF_A_KIND)


def on_finding(settings: IntegritySettings) -> OnFinding | None:
    """Return `off` if nothing is checked at all. What follows a finding depends on its kind."""
    return None if settings.command or any(settings.is_on(kind) for kind in KINDS) else "off"


def deadline(settings: IntegritySettings) -> float:
    """Return the seconds after which a check of an upload hangs."""
    return WAITING * settings.inline_seconds + _MORE_SECONDS
