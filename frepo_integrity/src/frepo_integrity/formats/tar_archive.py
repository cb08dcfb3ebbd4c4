"""Checks a tar archive: the checksum of each header, that each member is whole, and the two blocks of zeros at the end.

The blocks are described in POSIX (pax, "ustar Interchange Format") and in the manual of GNU tar ("Basic Tar Format").
The contents of members have no checksum, so changed bytes in them cannot be seen.
"""

import re
from collections.abc import Callable, Iterator

from ..budget import Budget
from ..byte_stream import CHUNK, ByteStream
from ..outcomes import BrokenContent, NotCheckable
from .format import read_all_but

BLOCK = 512
RECORD = 20 * BLOCK
ZEROS = bytes(BLOCK)
NOTHING = "The tar archive is whole, but there is nothing in it"
MAX_PAX = 16 << 20
_PIXZ_INDEX, _PIXZ_LAST = bytes.fromhex("a64c322ed614aedb"), 1 + 8
_MAGIC = re.compile(rb"ustar(?:\x00|  \x00)")
_CHECKSUM = slice(148, 156)
_PAX_RECORD = re.compile(rb"(\d{1,9}) ")
# The longest record that gives a size: its own length, a blank, `size=`, 20 digits, the line end.
_PAX_SIZE = re.compile(rb"(\d{1,9}) size=(\d{1,20})\n")
_PAX_HEAD = 40
# Links, devices, folders and pipes have no content, whatever their size field says.
_WITHOUT_CONTENT = frozenset(b"123456")
_HARD_LINK, _FOLDER = ord("1"), ord("5")
_FILES = frozenset(b"0\0")


class Member(ByteStream):
    """The content of a member of this size. What is not read of it is skipped."""

    def __init__(self, source: ByteStream, size: int) -> None:
        super().__init__(self._read(source))
        self.left = size

    def _read(self, source: ByteStream) -> Iterator[bytes]:
        while self.left and (data := source.take(min(self.left, CHUNK))):
            self.left -= len(data)
            yield data


Look = Callable[[str, Member], object]


def is_tar(head: bytes) -> bool:
    """Whether a content with these first 512 bytes is a tar archive, perhaps with a damaged first header."""
    if len(head) < BLOCK:
        return _MAGIC.match(head[257:265]) is not None
    return _MAGIC.match(head[257:265]) is not None or (head[:1] != b"\0" and _has_checksum(head))


def is_empty_tar(content: bytes) -> bool:
    """Whether a content is an archive without members: two blocks of zeros, or the record that `tar` writes."""
    return len(content) in {2 * BLOCK, RECORD} and not content.strip(b"\0")


def check_tar(source: ByteStream, budget: Budget, look: Look = lambda name, member: None) -> int:
    """Read the archive to the end of the stream; return the number of members. Raises `BrokenContent`.

    `look` is called with the name, if it is a short one, and the content of each file.
    """
    members = folders = 0
    pax_size: int | None = None
    while True:
        budget.spend()
        header = _read_block(source, "a header")
        if header == ZEROS:
            if not _check_end(source, budget):
                continue
            if not members:
                raise BrokenContent("tar", NOTHING)
            if members == folders:
                raise BrokenContent("tar", "The tar archive has only folders, and no file", verdict="suspicious")
            return members
        if not _has_checksum(header):
            raise BrokenContent("tar", f"The checksum of the tar header at byte {source.offset - BLOCK} is wrong")
        kind, size = header[156], _number(header[124:136], source.offset - BLOCK)
        if kind in b"xg":
            pax_size = _read_pax(source, size, pax_size, budget)
            continue
        if kind not in b"LK":  # the long name or link of the next member
            size, pax_size = (size if pax_size is None else pax_size), None
            members += 1
            folders += kind == _FOLDER
        if kind == ord("S"):
            _skip_sparse_map(source, header, budget)
        if _has_content(source, kind, size):
            member = Member(source, size)
            if kind in _FILES:
                look(_name(header), member)
            _skip_content(source, member.left, -size % BLOCK)


def _name(header: bytes) -> str:
    return header[:100].rstrip(b"\0").decode("utf-8", "replace")


def _has_content(source: ByteStream, kind: int, size: int) -> bool:
    if kind == _HARD_LINK and size:
        # Some programs store the content with a link (pax -o linkdata), others only give its size.
        following = source.peek(BLOCK)
        return following != ZEROS and not _has_checksum(following)
    return kind not in _WITHOUT_CONTENT


def _check_end(source: ByteStream, budget: Budget) -> bool:
    """Check what follows the first block of zeros. Return False if another archive begins (`cat a.tar b.tar`)."""
    if _read_block(source, "the second block of zeros at its end") != ZEROS:
        raise BrokenContent("tar", f"A single block of zeros is within the tar archive, at byte {source.offset}")
    while following := source.peek(BLOCK):
        budget.spend()
        if following.startswith(_PIXZ_INDEX):
            _check_pixz_index(source, budget)
        elif following.strip(b"\0"):
            if len(following) == BLOCK and _has_checksum(following):
                return False
            raise BrokenContent("tar", f"Bytes that are not tar follow its end, from byte {source.offset} on")
        source.skip(len(following))
    return True


def _check_pixz_index(source: ByteStream, budget: Budget) -> None:
    """Read over the names and places of the members, which pixz writes behind an archive. The last name is empty."""
    last = read_all_but(source, budget, _PIXZ_LAST, lambda data: None)
    if last[:1] != b"\0":
        raise NotCheckable("something else follows the index that pixz writes behind the tar archive, which is whole")


def _read_block(source: ByteStream, what: str) -> bytes:
    block = source.read(BLOCK)
    if len(block) < BLOCK:
        raise BrokenContent("tar", f"The tar archive ends too early, after {source.offset} bytes: {what} is missing")
    return block


def _skip_content(source: ByteStream, size: int, padding: int) -> None:
    if source.skip(size + padding) < size + padding:
        raise BrokenContent("tar", f"The tar archive ends too early, within a member, after {source.offset} bytes")


def _skip_sparse_map(source: ByteStream, header: bytes, budget: Budget) -> None:
    """Skip the further blocks of the map of an old GNU sparse file. A flag in each says whether one more follows."""
    more = header[482]
    while more:
        budget.spend()
        more = _read_block(source, "the map of a sparse file")[504]


def _read_pax(source: ByteStream, size: int, before: int | None, budget: Budget) -> int | None:
    """Return the size of the next member if a pax header gives it: members of 8 GiB or more have it there.

    The header consists of records of the form `length key=value`, each with a line end that its length counts. The last
    record with a size counts; the others are skipped, whatever their number and length.
    """
    if size > MAX_PAX:
        raise NotCheckable(f"a pax header of the tar archive has {size} bytes")
    found, left = before, size
    while left:
        budget.spend()
        head = source.peek(min(left, _PAX_HEAD))
        length = _record_length(head, left)
        if (match := _PAX_SIZE.fullmatch(head[:length])) and int(match[1]) == length:
            found = int(match[2])
        _skip_header(source, length)
        left -= length
    _skip_header(source, -size % BLOCK)
    return found


def _record_length(head: bytes, left: int) -> int:
    """Return the length of the record that begins with `head`; all that is left where there is no valid one."""
    match = _PAX_RECORD.match(head)
    return min(int(match[1]), left) if match and int(match[1]) >= match.end() else left


def _skip_header(source: ByteStream, size: int) -> None:
    if source.skip(size) < size:
        raise BrokenContent("tar", f"The tar archive ends too early, within a header, after {source.offset} bytes")


def _has_checksum(header: bytes) -> bool:
    """Whether the checksum is right: the sum of all bytes (signed in some old programs), with blanks for itself."""
    text = header[_CHECKSUM].strip(b" \0")
    if len(header) < BLOCK or not re.fullmatch(rb"[0-7]{1,7}", text):
        return False
    others = header[:148] + b" " * 8 + header[156:]
    unsigned = sum(others)
    return int(text, 8) in {unsigned, unsigned - 256 * sum(byte > 127 for byte in others)}


def _number(field: bytes, position: int) -> int:
    """Return a number in octal digits, or in binary if its first bit is set (GNU, for 8 GiB and more)."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    text = field.strip(b" \0")
    try:
        return int(text or b"0", 8)
    except ValueError:
        raise BrokenContent("tar", f"The size in the tar header at byte {position} is not a number") from None
