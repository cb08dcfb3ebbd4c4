"""Writes members of an archive below a folder, and nothing outside of it.

The folder is empty at first, and links are made last: so no file is written through one. Set-uid bits, devices, owners,
absolute names and links that leave the folder are left out.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from frepo_core.plugins import Part, readable_size

from .tree import steps

_MODES = 0o777
_LONGEST = 255
_NAMED = 10


class Writer:
    """Writes parts, and remembers what it has left out."""

    def __init__(self, folder: Path, parts: Sequence[Part], extract: Callable[[Part], Iterator[bytes]]) -> None:
        """`parts` are all of the archive: a hard link may lead to one that is not chosen."""
        self._folder, self._extract = folder, extract
        self._files = {tuple(steps(part.name)): part for part in parts if part.kind == "file"}
        self._written: Counter[str] = Counter()
        self._size = 0
        self._left_out: list[tuple[str, str]] = []

    def write(self, parts: Iterable[Part]) -> None:
        """Write these parts. Raises what reading the archive raises, and `OSError` for a full disk."""
        links, folders = [], []
        for part in parts:
            names = steps(part.name)
            if ".." in names or any(len(os.fsencode(one)) > _LONGEST or "\0" in one for one in names):
                self._leave_out(part, "its name leads out of the folder, or is no name of a file")
            elif part.kind == "folder":
                folders.append((self._folder.joinpath(*names), part))
                self._make_folder(part, self._folder.joinpath(*names))
            elif part.kind == "link":
                links.append((self._folder.joinpath(*names), part))
            elif part.kind in {"file", "hard link"}:
                self._write_file(part, self._folder.joinpath(*names))
            else:
                self._leave_out(part, part.refusal)
        for path, part in links:
            self._make_link(part, path)
        for path, part in reversed(folders):  # those within come first
            if path.is_dir() and part.mode is not None:
                path.chmod(part.mode & _MODES | 0o700)

    def report(self) -> list[str]:
        """Return sentences about what was written and what was not."""
        counts = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for kind, number in sorted(self._written.items()))
        lines = [f"Restored {counts or 'nothing'}, {readable_size(self._size)}, into {self._folder}"]
        lines += [f"Left out {name}: {reason}" for name, reason in self._left_out[:_NAMED]]
        if (more := len(self._left_out) - _NAMED) > 0:
            lines.append(f"Left out {more} more")
        return lines

    def _leave_out(self, part: Part, reason: str) -> None:
        self._left_out.append((part.name, reason))

    def _make_folder(self, part: Part, path: Path) -> bool:
        try:
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            self._leave_out(part, "a file of the archive has the name of its folder")
            return False
        if part.kind == "folder":
            self._written["folder"] += 1
        return True

    def _write_file(self, part: Part, path: Path) -> None:
        source = self._files.get(tuple(steps(part.target))) if part.kind == "hard link" else part
        if source is None or source.refusal:
            self._leave_out(part, source.refusal if source else "the file that it is a link to is missing")
            return
        if not self._make_folder(source, path.parent):
            return
        if path.is_dir():
            self._leave_out(part, "a folder of the archive has its name")
            return
        existing = self._folder.joinpath(*steps(source.name))
        if part.kind == "hard link" and existing.is_file() and ".." not in steps(source.name):
            if existing != path:
                path.unlink(missing_ok=True)
                shutil.copyfile(existing, path)
        else:
            self._write_content(source, path)
        mode = source.mode if source.mode is not None else 0o644
        path.chmod(mode & _MODES)
        if source.modified is not None:
            os.utime(path, (source.modified, source.modified))
        self._written["file"] += 1
        self._size += source.size

    def _write_content(self, part: Part, path: Path) -> None:
        path.unlink(missing_ok=True)  # of several members of one name, the last one counts
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.writelines(self._extract(part))

    def _make_link(self, part: Part, path: Path) -> None:
        depth = len(path.relative_to(self._folder).parts) - 1
        names = part.target.split("/")
        ups = len(names) - len([*_after_ups(names)])
        if not part.target or part.target.startswith("/") or ups > depth or ".." in [*_after_ups(names)]:
            self._leave_out(part, "it is a link that leads out of the folder")
        elif path.is_symlink() or path.exists():
            self._leave_out(part, "another part of the archive has its name")
        elif self._make_folder(Part(name=part.name), path.parent):
            path.symlink_to(part.target)
            self._written["link"] += 1


def _after_ups(names: Sequence[str]) -> Iterator[str]:
    """Yield the steps of a target behind those to the folders above: a link could be between others."""
    is_up = True
    for name in names:
        is_up = is_up and name == ".."
        if not is_up:
            yield name
