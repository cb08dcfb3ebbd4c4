"""What processes do with files, as strace records it: each system call with all its bytes."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CALLS = (
    "open,openat,creat,close,dup,dup2,dup3,fcntl,lseek,write,writev,pwrite64,pwritev,pwritev2,truncate,ftruncate,"
    "fallocate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,rmdir,mkdir,mkdirat,sendto,"
    "sendmsg,copy_file_range,sendfile"
)
# -xx: each text in hexadecimal digits, so that nothing in it looks like strace's own signs. -y: the paths of files.
OPTIONS = (
    *("-D", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", str(1 << 24), "-e", "signal=none"),
    *("-e", f"trace={CALLS}"),
)
_TEXT = r"(?:\\x[0-9a-f]{2})*"
_LINE = re.compile(r"(\d+) +(.*)")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
_CALL = re.compile(r"(\w+)\((.*?)(?:\) += +(-?\d+).*| <unfinished \.\.\.>)")
_STRING = re.compile(f'"({_TEXT})"')
_FOLDER = re.compile(rf"(\d+|AT_FDCWD)<({_TEXT})>(?:\(deleted\))?")


@dataclass(frozen=True)
class Call:
    """One system call that succeeded, or that begins: then it has no result."""

    name: str
    arguments: str
    result: int | None

    @cached_property
    def descriptor(self) -> int | None:
        """The descriptor in the first argument."""
        found = re.match(r"\d+", self.arguments)
        return int(found[0]) if found else None

    @cached_property
    def texts(self) -> list[bytes]:
        """All texts in the arguments."""
        return [_decode(text) for text in _STRING.findall(self.arguments)]

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers among the arguments, with that of a descriptor."""
        return [int(one) for one in re.findall(r"(?:^|, )(-?\d+)(?=[,<]|$)", self.arguments)]

    @cached_property
    def paths(self) -> list[str]:
        """The paths in the arguments. What is relative is so to the descriptor before it."""
        found, folder = [], "/"
        for argument in self.arguments.split(", "):
            if match := _FOLDER.fullmatch(argument):
                folder = _decode(match[2]).decode()
            elif match := _STRING.fullmatch(argument):
                path = _decode(match[1]).decode(errors="replace")
                found.append(path if path.startswith("/") else f"{folder}/{path}")
        return found

    @cached_property
    def path(self) -> str:
        """The path of the file of the first descriptor."""
        found = _FOLDER.match(self.arguments)
        return _decode(found[2]).decode(errors="replace") if found else ""


class Trace:
    """The calls that a file of strace has, while it grows."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file = path.open("rb")
        self._rest = b""
        self._begun: dict[str, str] = {}
        self._waiting: deque[Call] = deque()

    def next(self) -> Call | None:
        """Return the next call, or None if there is none yet. Each comes when it begins, and when it has succeeded."""
        while not self._waiting:
            self._rest += self._file.readline()
            if not self._rest.endswith(b"\n"):  # it is being written
                return None
            line, self._rest = self._rest.rstrip(b"\n").decode("ascii"), b""
            self._waiting.extend(self._parse(line))
        return self._waiting.popleft()

    def close(self) -> None:
        self._file.close()

    def _parse(self, line: str) -> Iterator[Call]:
        match = _LINE.fullmatch(line)
        if match is None:
            return
        thread, text = match.groups()
        if resumed := _RESUMED.fullmatch(text):
            text = self._begun.pop(thread, "") + resumed[1]
        elif found := _CALL.fullmatch(text):
            yield Call(found[1], found[2], None)
        if text.endswith("<unfinished ...>"):
            self._begun[thread] = text.removesuffix("<unfinished ...>").rstrip()
        elif (found := _CALL.fullmatch(text)) and found[3] and int(found[3]) >= 0:
            yield Call(found[1], found[2], int(found[3]))


def _decode(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))
