"""Files and folders of a disk: what was synced, and what was not."""

from collections.abc import Callable
from dataclasses import dataclass

BLOCK = 4096


class File:
    """Bytes: those on the disk, and the writes since, which may get there in any order."""

    def __init__(self, content: bytes = b"") -> None:
        self.kept = bytearray(content)
        self.writes: list[tuple[int, bytes] | int] = []  # an offset with its bytes, or a size
        self.begun = 0  # that many of the writes had ended when the sync began

    def write(self, offset: int, data: bytes) -> None:
        """Write a block after the other."""
        while data:
            size = BLOCK - offset % BLOCK
            self.writes.append((offset, data[:size]))
            offset, data = offset + size, data[size:]

    def sync(self) -> None:
        """Keep the writes that had ended when the sync began."""
        self.kept = self.content(lambda number: number < self.begun)
        del self.writes[: self.begun]
        self.begun = 0

    def content(self, has_write: Callable[[int], bool]) -> bytearray:
        """Return the bytes with some of the writes."""
        content = bytearray(self.kept)
        for number, write in enumerate(self.writes):
            if not has_write(number):
                continue
            offset, data = write if isinstance(write, tuple) else (write, b"")
            if isinstance(write, int):
                del content[offset:]
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        return content


class Folder:
    """Names: those on the disk, and all."""

    def __init__(self) -> None:
        self.kept: dict[str, Node] = {}
        self.names: dict[str, Node] = {}


Node = File | Folder


@dataclass(eq=False)
class Renaming:
    """Names that change together; None takes a name away."""

    changes: list[tuple[Folder, str, Node | None]]

    def is_about(self, folder: Folder) -> bool:
        """Return whether a name in this folder changes."""
        return any(where is folder for where, _, _ in self.changes)


def set_name(names: dict[str, Node], name: str, node: Node | None) -> None:
    """Give a name to a node, or take it away."""
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node
