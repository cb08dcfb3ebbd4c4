"""A disk that keeps what was synced, and may lose everything else when the power is cut.

It follows the system calls of a service. A sync of a file brings its bytes to the disk, that of a folder its names.
A change of names is made wholly or not at all, as in each file system with a journal; a write may be torn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .calls import Call
from .nodes import File, Folder, Node, Renaming, set_name


@dataclass
class _Descriptors:
    nodes: dict[int, Node] = field(default_factory=dict)
    positions: dict[int, int] = field(default_factory=dict)


class Disk:
    """A folder and everything below it. All that is there at first was synced."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder)
        self.root = _read(folder)
        self._renamings: list[Renaming] = []
        self._open = _Descriptors()

    def begin_process(self) -> None:
        """Forget the descriptors: another process makes the calls that follow."""
        self._open = _Descriptors()

    def do(self, call: Call) -> None:
        """Do what a call does, if it is about this disk."""
        name = _SAME.get(call.name, call.name)
        if call.result is None:
            if name == "fsync" and isinstance(node := self._node(call), File):
                node.begun = len(node.writes)
        elif method := getattr(self, f"_do_{name}", None):
            method(call)

    def unsynced(self) -> list[str]:
        """Return the paths of what a cut may take: files whose writes were not synced, and names that were added."""
        added = {id(node) for one in self._renamings for _, _, node in one.changes if node}
        return [path for path, node in self._walk() if id(node) in added or (isinstance(node, File) and node.writes)]

    def write_to(
        self,
        folder: Path,
        has_names: Callable[[], bool] = lambda: False,
        has_write: Callable[[int], bool] = lambda number: False,
    ) -> None:
        """Write what is left after a cut: what was synced, and some of the rest, as the two functions say."""
        names: dict[int, dict[str, Node]] = {}
        for renaming in self._renamings:
            if has_names():
                for where, name, node in renaming.changes:
                    set_name(names.setdefault(id(where), dict(where.kept)), name, node)
        _write(folder, self.root, lambda where: names.get(id(where), where.kept), has_write)

    def differences(self) -> list[str]:
        """Return the paths of the real folder whose bytes are not those of this disk with all its writes."""
        found = []
        for path, node in self._walk():
            real = Path(path)
            if isinstance(node, File) and (not real.is_file() or real.read_bytes() != node.content(lambda _: True)):
                found.append(path)
        known = {path for path, _ in self._walk()}
        return found + [str(path) for path in Path(self.path).rglob("*") if str(path) not in known]

    # The calls, by their names

    def _do_openat(self, call: Call) -> None:
        number, path, node = call.result or 0, call.paths[0], None
        if "O_TMPFILE" in call.arguments:
            node = File() if self._is_below(path) else None
        elif self._is_below(path):
            parent, name = self._locate(path)
            node = parent.names.get(name) if parent else self.root
            if node is None and parent and "O_CREAT" in call.arguments:
                node = File()
                self._rename((parent, name, node))
            if isinstance(node, File) and "O_TRUNC" in call.arguments:
                node.writes.append(0)
        self._open.nodes.pop(number, None)
        if node is not None:
            self._open.nodes[number] = node
            self._open.positions[number] = 0
            if "O_APPEND" in call.arguments:
                raise NotImplementedError(call)

    def _do_close(self, call: Call) -> None:
        self._open.nodes.pop(call.descriptor or 0, None)

    def _do_dup2(self, call: Call) -> None:
        if (node := self._node(call)) is not None:
            self._open.nodes[call.result or 0] = node
            self._open.positions[call.result or 0] = self._open.positions.get(call.descriptor or 0, 0)

    def _do_fcntl(self, call: Call) -> None:
        if "F_DUPFD" in call.arguments:
            self._do_dup2(call)

    def _do_lseek(self, call: Call) -> None:
        if self._node(call) is not None:
            self._open.positions[call.descriptor or 0] = call.result or 0

    def _do_write(self, call: Call) -> None:
        if isinstance(node := self._node(call), File):
            position = self._open.positions[call.descriptor or 0]
            node.write(position, b"".join(call.texts)[: call.result])
            self._open.positions[call.descriptor or 0] = position + (call.result or 0)

    def _do_pwrite64(self, call: Call) -> None:
        if isinstance(node := self._node(call), File):
            node.write(call.numbers[-1], b"".join(call.texts)[: call.result])

    def _do_ftruncate(self, call: Call) -> None:
        if isinstance(node := self._node(call), File):
            node.writes.append(call.numbers[-1])

    def _do_fallocate(self, call: Call) -> None:
        if isinstance(node := self._node(call), File):
            size, end = len(node.content(lambda _: True)), sum(call.numbers[-2:])
            if end > size and "KEEP_SIZE" not in call.arguments:
                node.writes.append(end)

    def _do_fsync(self, call: Call) -> None:
        node = self._node(call)
        if isinstance(node, File):
            node.sync()
        elif node is not None:
            for renaming in [one for one in self._renamings if one.is_about(node)]:
                self._keep(renaming)

    def _do_rename(self, call: Call) -> None:
        source, target = call.paths
        if self._is_below(source):
            (old, name), (new, new_name) = self._locate(source), self._locate(target)
            assert old is not None and new is not None
            self._rename((old, name, None), (new, new_name, old.names[name]))

    def _do_linkat(self, call: Call) -> None:
        source, target = call.paths
        if not self._is_below(target):
            return
        if source.startswith("/proc/"):
            node = self._open.nodes[int(PurePosixPath(source).name)]
        else:
            folder, name = self._locate(source)
            assert folder is not None
            node = folder.names[name]
        parent, name = self._locate(target)
        assert parent is not None
        self._rename((parent, name, node))

    def _do_unlink(self, call: Call) -> None:
        if self._is_below(call.paths[0]):
            parent, name = self._locate(call.paths[0])
            assert parent is not None
            self._rename((parent, name, None))

    def _do_mkdir(self, call: Call) -> None:
        if self._is_below(call.paths[0]):
            parent, name = self._locate(call.paths[0])
            assert parent is not None
            self._rename((parent, name, Folder()))

    def _do_copy_file_range(self, call: Call) -> None:
        if any(path.startswith(self.path) for path in (call.path, *call.paths)):
            raise NotImplementedError(call)

    # Names

    def _is_below(self, path: str) -> bool:
        return path == self.path or path.startswith(f"{self.path}/")

    def _locate(self, path: str) -> tuple[Folder | None, str]:
        """Return the folder and the last part of a path; no folder for the root."""
        parts = PurePosixPath(path).relative_to(self.path).parts
        folder = self.root
        for part in parts[:-1]:
            found = folder.names[part]
            assert isinstance(found, Folder)
            folder = found
        return (folder, parts[-1]) if parts else (None, "")

    def _node(self, call: Call) -> Node | None:
        if not self._is_below(call.path):
            return None
        if (node := self._open.nodes.get(call.descriptor or 0)) is not None:
            return node
        parent, name = self._locate(call.path)
        return parent.names.get(name) if parent else self.root

    def _rename(self, *changes: tuple[Folder, str, Node | None]) -> None:
        self._renamings.append(Renaming(list(changes)))
        for folder, name, node in changes:
            set_name(folder.names, name, node)

    def _keep(self, renaming: Renaming) -> None:
        """Bring a change to the disk. Earlier ones of the same names are over."""
        earlier = self._renamings[: self._renamings.index(renaming)]
        self._renamings.remove(renaming)
        for where, name, node in renaming.changes:
            set_name(where.kept, name, node)
            for one in earlier:
                one.changes = [change for change in one.changes if change[0] is not where or change[1] != name]

    def _walk(self) -> Iterator[tuple[str, Node]]:
        waiting: list[tuple[str, Node]] = [(self.path, self.root)]
        while waiting:
            path, node = waiting.pop()
            yield path, node
            if isinstance(node, Folder):
                waiting += [(f"{path}/{name}", one) for name, one in node.names.items()]


# Calls that do the same.
_SAME = {
    other: name
    for name, others in {
        "openat": ("open", "creat"),
        "dup2": ("dup", "dup3"),
        "fsync": ("fdatasync",),
        "copy_file_range": ("sendfile",),
        "write": ("writev",),
        "pwrite64": ("pwritev", "pwritev2"),
        "rename": ("renameat", "renameat2"),
        "linkat": ("link",),
        "unlink": ("unlinkat", "rmdir"),
        "mkdir": ("mkdirat",),
    }.items()
    for other in others
}


def _read(folder: Path) -> Folder:
    node = Folder()
    for path in folder.iterdir():
        node.names[path.name] = _read(path) if path.is_dir() else File(path.read_bytes())
    node.kept = dict(node.names)
    return node


def _write(
    folder: Path, node: Folder, names: Callable[[Folder], dict[str, Node]], has_write: Callable[[int], bool]
) -> None:
    folder.mkdir()
    for name, one in names(node).items():
        if isinstance(one, Folder):
            _write(folder / name, one, names, has_write)
        else:
            (folder / name).write_bytes(one.content(has_write))
