"""Writing a folder from which PostgreSQL recovers: the base backup, and what it is told about the recovery."""

import os
import tarfile
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from frepo_core.plugins import ConfigurationError

_PIECE = 1 << 20


def unpack(content: BinaryIO, folder: Path) -> None:
    """Unpack a base backup into a folder that is new or empty. Raises `ConfigurationError`, and `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ConfigurationError(f"{folder} is not empty. Name a new folder: nothing is overwritten")
    folder.chmod(0o700)
    try:
        with tarfile.open(fileobj=content, mode="r|") as archive:
            for member in archive:
                _write(archive, member, folder)
    except tarfile.TarError as error:
        raise ConfigurationError(f"The base backup is not whole: {error}. Choose an earlier time") from error
    os.sync()


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file or a folder. Nothing else is in a base backup without tablespaces, and no name leads elsewhere."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
        raise ConfigurationError(f"The base backup contains {member.name!r:.200}, which does not belong there")
    target = folder / path
    if member.isdir():
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    source = archive.extractfile(member)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while source and (piece := source.read(_PIECE)):
            file.write(piece)


def write_recovery(folder: Path, command: str, at: datetime | None, *, is_promoted: bool) -> None:
    """Tell PostgreSQL how to recover, and that it archives nothing: a trial must not write into the archive."""
    action = "promote" if is_promoted else "pause"
    lines = {"restore_command": command, "recovery_target_timeline": "latest", "archive_mode": "off"}
    if at is not None:
        lines |= {"recovery_target_time": at.isoformat(sep=" "), "recovery_target_action": action}
    with (folder / "postgresql.auto.conf").open("a") as file:
        file.write("# frepo wal:restore\n")
        file.writelines(f"{name} = {_quoted(value)}\n" for name, value in lines.items())
    (folder / "standby.signal").unlink(missing_ok=True)
    (folder / "recovery.signal").touch(mode=0o600)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
