"""Members of a tar archive."""

import re
import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from frepo_core.plugins import NotListable, Part

_BLOCK = 512
_MAGIC = re.compile(rb"ustar(?:\x00|  \x00)")
_KINDS = {
    tarfile.SYMTYPE: "link",
    tarfile.LNKTYPE: "hard link",
    tarfile.DIRTYPE: "folder",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "pipe",
}


def list_parts(file: BinaryIO) -> Iterator[Part]:
    """Yield the members. Only their headers are read. Raises `NotListable` for a damaged header or a cut end."""
    try:
        with tarfile.open(fileobj=file, mode="r:", errorlevel=2, errors="surrogateescape") as archive:
            while member := archive.next():
                archive.members.clear()  # type: ignore[attr-defined]  # it keeps all of them otherwise
                yield _part(member)
            end = archive.offset
    except (tarfile.TarError, EOFError) as error:
        raise NotListable(f"The tar archive is damaged: {error}") from error
    file.seek(end)
    if (block := file.read(_BLOCK)) != bytes(_BLOCK):
        what = f"no header is at byte {end}" if block else "its end is missing"
        raise NotListable(f"The tar archive is damaged or was cut off: {what}")


def _part(member: tarfile.TarInfo) -> Part:
    kind = _KINDS.get(member.type, "file" if member.isreg() and not member.sparse else "other")
    size = member.size if kind == "file" else 0
    return Part(
        name=member.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        kind=kind,
        size=size,
        mode=member.mode & 0o7777,
        modified=int(member.mtime),
        target=member.linkname.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        refusal="" if kind == "file" else f"It is a {kind}, and has no content of its own",
        place=[[member.offset_data, member.offset_data + size]],
    )


def recognizes(head: bytes) -> bool:
    """Whether a content begins with a header of tar."""
    return _MAGIC.match(head[257:265]) is not None
