"""What the process that encodes is asked to do."""

import json
from dataclasses import asdict

from frepo_core.domain.structs import struct


@struct
class ObjectFile:
    """A file with an object: its path, its encoding (`raw`, `zstd`, `delta`), and the SHA-256 of its content."""

    path: str
    encoding: str
    digest: str


@struct
class Task:
    """A content to encode into the file `target`, in the way that saves most.

    `content` and `base` begin with the object itself; the objects that each needs as its base follow. Sizes are those
    of the contents, in bytes. `rate` is in bytes a second; 0: no limit. With `is_raw`, the content is decoded into the
    target instead, and has no base. With `is_sketched`, only the sketch of the content is made. With `has_windows`,
    a difference may have several windows for a segment.
    """

    content: list[ObjectFile]
    size: int
    base: list[ObjectFile]
    base_size: int
    target: str
    rate: int
    is_raw: bool = False
    is_sketched: bool = False
    has_windows: bool = False

    def to_json(self) -> str:
        """Return the task as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> "Task":
        """Make the task of a line."""
        values = json.loads(line)
        for name in ("content", "base"):
            values[name] = [ObjectFile(**each) for each in values[name]]
        return cls(**values)
