"""Programs that write archives and compressed files: each is run over the same folder, or over the same dump."""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import writer_commands as commands
from .programs import require

# They are not on every machine.
_PROGRAMS = (
    *("zip", "7zz", "bsdtar", "bsdcpio", "cpio", "busybox", "git", "jar", "perl", "pixz", "pigz", "bgzip", "pbzip2"),
    *("lbzip2", "zstd", "pzstd", "lz4", "plzip", "lzop"),
)
# They have no check.
OTHERS = "others"


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A program with options: `command` is a line of a shell, run in the folder with the dump as its input.

    `programs` are those that are not on each machine.
    """

    label: str
    suffix: str
    command: str
    programs: tuple[str, ...]

    def write(self, folder: Path, dump: Path, out: Path, *, limit: int | None = None) -> bytes | None:
        """Return what the program writes. After `limit` bytes of a file the kernel ends it; None if it leaves no file.

        The test is skipped if a program is not installed.
        """
        for program in self.programs:
            require(program)
        line = self.command if "$OUT" in self.command else f'{{ {self.command}; }} > "$OUT"'
        limits = f"ulimit -c 0; ulimit -f {limit // 512}; " if limit else ""
        with dump.open("rb") as data:
            done = subprocess.run(
                ["/bin/sh", "-c", f"{limits}{line}"],
                cwd=folder,
                stdin=data,
                capture_output=True,
                env=os.environ | {"OUT": str(out), "DUMP": str(dump), "LC_ALL": "C.UTF-8"},
                check=False,
            )
        if done.returncode and limit is None:
            raise AssertionError(f"{self.label}: {done.returncode}, {done.stderr.decode(errors='replace')}")
        written = out.read_bytes() if out.exists() else None
        out.unlink(missing_ok=True)
        return written


def _of(suffix: str, lines: Mapping[str, str]) -> list[Writer]:
    """Return writers by their labels."""
    return [
        Writer(
            label=label,
            suffix=suffix,
            command=line,
            programs=tuple(program for program in _PROGRAMS if re.search(rf"(?<![\w-]){program}\b", line)),
        )
        for label, line in lines.items()
    ]


# By the format: the suffix of its files and the lines.
FORMATS = {
    "zip": ("zip", commands.ZIP),
    "zip, by Java": ("jar", commands.JAR),
    "xz": ("xz", commands.XZ),
    "gzip": ("gz", commands.GZIP),
    "zstd": ("zst", commands.ZSTD),
    "bzip2": ("bz2", commands.BZIP2),
    "lz4": ("lz4", commands.LZ4),
    "tar": ("tar", commands.TAR),
    "cpio": ("cpio", commands.CPIO),
    "7z": ("7z", commands.SEVEN_ZIP),
    OTHERS: ("bin", commands.OTHERS),
}
WRITERS = {name: _of(suffix, lines) for name, (suffix, lines) in FORMATS.items()}
