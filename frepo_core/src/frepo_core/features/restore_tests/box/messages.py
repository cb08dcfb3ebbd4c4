"""What frepo and a box say to each other over one socket: an order and the content, then the report.

frepo sends an order in JSON, with its length before it, and the content, and ends its side. The box sends lines of
JSON: that it is ready, and a report. What comes from a box may have been written by the content: it is checked.
"""

import json
import math
import re
import socket
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

READY = b'{"ready": true}\n'
RESTORED, BROKEN, UNDECIDED = "restored", "broken", "not checked"
MAX_ORDER, MAX_REPORT = 1 << 20, 1 << 20
MAX_NAMES, MAX_NAME, MAX_TEXT = 5000, 200, 1000
_LENGTH = struct.Struct(">I")

# What programs say when they meet a limit of the box: nothing about the content.
_LIMITS = re.compile(
    r"no space left|out of memory|memoryerror|memory exhausted|cannot allocate|resource temporarily unavailable|"
    r"file too large|could not fork|disk quota exceeded|too many open files",
    re.IGNORECASE,
)

_REFUSED = re.compile("[\0\ud800-\udfff]")


def meets_limit(text: str) -> bool:
    """Return whether a program says that it has met a limit of the box."""
    return _LIMITS.search(text) is not None


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a box: seconds, bytes of memory and on the disk, and a number of processes."""

    seconds: float
    memory: int
    disk: int
    processes: int


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a box has to do: restore with an engine of a plug-in, and answer questions, by name."""

    plugin: str
    engine: str
    version: str
    name: str
    limits: Limits
    command: Sequence[str] = ()
    questions: Mapping[str, str] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Return the bytes to send."""
        text = json.dumps(asdict(self)).encode()
        return _LENGTH.pack(len(text)) + text

    @classmethod
    def receive(cls, channel: socket.socket) -> "Order":
        """Read an order from a socket, and nothing that follows it."""
        (length,) = _LENGTH.unpack(_exactly(channel, _LENGTH.size))
        if length > MAX_ORDER:
            raise ValueError("the order is too long")
        values = json.loads(_exactly(channel, length))
        return cls(**values | {"limits": Limits(**values["limits"])})


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a box has found.

    `numbers` are the answers to the questions; times are seconds since 1970, None is no answer. `tables` are what may
    become empty, each with whether something is in it. `wrong` are the questions that could not be answered, and why.
    """

    outcome: str
    message: str = ""
    note: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, bool] = field(default_factory=dict)

    def packed(self) -> bytes:
        """Return the line to send."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> "Report":
        """Read a report, which may be anything. Raises `ValueError`."""
        try:
            values = json.loads(line)
        except RecursionError:
            raise ValueError("this is no report") from None
        if not isinstance(values, dict) or values.get("outcome") not in {RESTORED, BROKEN, UNDECIDED}:
            raise ValueError("this is no report")
        return cls(
            outcome=values["outcome"],
            message=_text(values.get("message")),
            note=_text(values.get("note")),
            numbers={name: _number(value) for name, value in _entries(values.get("numbers"))},
            wrong={name: _text(value) for name, value in _entries(values.get("wrong"))},
            tables={name: value is True for name, value in _entries(values.get("tables"))},
        )


def _exactly(channel: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        data = channel.recv(size - len(found))
        if not data:
            raise EOFError("the order ends in the middle")
        found += data
    return found


def _entries(values: Any) -> list[tuple[str, Any]]:
    entries = list(values.items())[:MAX_NAMES] if isinstance(values, dict) else []
    return [(_clean(name[:MAX_NAME]), value) for name, value in entries]


def _text(value: Any) -> str:
    return _clean(value[:MAX_TEXT]) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    """Replace what a database or UTF-8 refuses: NUL, and the halves of surrogate pairs."""
    return _REFUSED.sub("\N{REPLACEMENT CHARACTER}", text)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with suppress(OverflowError):
        return float(value) if math.isfinite(value) else None
    return None
