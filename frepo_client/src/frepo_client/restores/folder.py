"""Writes parts of an archive below a new folder, and nothing outside of it, whatever the server and the archive say.

The folder is empty at first, and links are made last: no file is written through one. Set-uid bits, devices, owners,
absolute names and links that leave the folder are left out.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from ..errors import UsageError
from ..private_files import create
from .contents import Contents, steps

_MODES = 0o777
_LONGEST = 255
_LEADS_OUT = "its name leads out of the folder, or is no name of a file"
_SEPARATORS = {"/", "\0", os.sep, os.altsep or "/", ":" if os.name == "nt" else "/"}


class Folder:
    """A folder that is new or empty, and what was written into it and what was not."""

    def __init__(self, path: str) -> None:
        """Raises `UsageError` for a folder that has something."""
        if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
            raise UsageError(f"{path} exists, and nothing is written over: name a new folder with -o")
        self._path = path
        self.files = self.folders = self.links = self.size = 0
        self.left_out: list[str] = []

    def write(self, contents: Contents, parts: Iterable[tuple[tuple[str, ...], dict[str, Any]]]) -> None:
        """Write these parts. Raises what a download raises, and `OSError`."""
        os.makedirs(self._path, mode=0o700, exist_ok=True)
        links, folders = [], []
        for way, part in parts:
            kind = part["kind"]
            if not all(_is_name(name) for name in way):
                self._leave_out(way, _LEADS_OUT)
            elif kind == "folder":
                folders.append((way, part))
                self.folders += self._make_folder(way, way)
            elif kind == "link":
                links.append((way, str(part["target"] or "")))
            elif kind in {"file", "hard link"}:
                self._write_file(contents, way, part)
            else:
                self._leave_out(way, str(part["refusal"] or f"it is a {kind}"))
        for way, target in links:
            self._make_link(way, target)
        for way, part in reversed(folders):  # those within come first
            if os.path.isdir(self._at(way)) and part["mode"]:
                os.chmod(self._at(way), int(part["mode"], 8) & _MODES | 0o700)

    def _at(self, way: tuple[str, ...]) -> str:
        return os.path.join(self._path, *way)

    def _leave_out(self, way: tuple[str, ...], reason: str) -> None:
        self.left_out.append(f"{'/'.join(way)}: {reason}")

    def _make_folder(self, way: tuple[str, ...], of_part: tuple[str, ...]) -> bool:
        try:
            os.makedirs(self._at(way), mode=0o755, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            self._leave_out(of_part, "a file of the archive has the name of its folder")
            return False
        return True

    def _write_file(self, contents: Contents, way: tuple[str, ...], part: dict[str, Any]) -> None:
        source = contents.file(str(part["target"])) if part["kind"] == "hard link" else part
        path = self._at(way)
        if source is None or source["refusal"]:
            self._leave_out(way, str(source["refusal"] if source else "the file that it is a link to is missing"))
        elif os.path.isdir(path):
            self._leave_out(way, "a folder of the archive has its name")
        elif self._make_folder(way[:-1], way):
            if os.path.lexists(path):  # of several members of one name, the last one counts
                os.remove(path)
            else:
                self.files += 1
            with create(path) as file:
                file.writelines(contents.pieces(source))
            self.size += int(source["size"])
            os.chmod(path, int(source["mode"] or "644", 8) & _MODES)
            if source["modified_at"]:
                seconds = datetime.fromisoformat(str(source["modified_at"]).replace("Z", "+00:00")).timestamp()
                with contextlib.suppress(OSError, OverflowError):
                    os.utime(path, (seconds, seconds))

    def _make_link(self, way: tuple[str, ...], target: str) -> None:
        names = target.split("/")
        rest = [*_after_ups(names)]
        if not target or target.startswith("/") or len(names) - len(rest) > len(way) - 1 or ".." in rest:
            self._leave_out(way, "it is a link that leads out of the folder")
        elif os.path.lexists(self._at(way)):
            self._leave_out(way, "another part of the archive has its name")
        elif self._make_folder(way[:-1], way):
            os.symlink(target, self._at(way))
            self.links += 1


def _is_name(name: str) -> bool:
    """Whether a text is the name of a file in a folder, and nothing else."""
    is_short = len(name.encode("utf-8", "replace")) <= _LONGEST
    return steps(name) == (name,) and name != ".." and is_short and not any(one in name for one in _SEPARATORS)


def _after_ups(names: list[str]) -> Iterator[str]:
    """Yield the steps of a target behind those to the folders above: a link could be between others."""
    is_up = True
    for name in names:
        is_up = is_up and name == ".."
        if not is_up:
            yield name
