"""Checks a database file of SQLite: the size that its header says (https://www.sqlite.org/fileformat2.html, 1.3)."""

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent
from ..format import Format, Reader

START = b"SQLite format 3\0"
_HEADER = 100
# What is read of the tree: its kind, and in the last two bytes the number of its cells.
_TREE, _LEAF = 5, 0x0D
_MAX_PAGE = 65_536


def check(source: ByteStream, budget: Budget) -> str:
    """Compare the size with the number of pages in the header.

    Releases before 3.7.0 do not keep that number up to date; then the size must be a multiple of the page's.
    """
    reader = Reader(source, budget, "sqlite", "the SQLite database")
    header = reader.take(_HEADER, "its header")
    page_size = int.from_bytes(header[16:18], "big")
    page_size = _MAX_PAGE if page_size == 1 else page_size
    if page_size < 512 or page_size & (page_size - 1):
        raise reader.broken(f"its header gives pages of {page_size} bytes")
    pages = int.from_bytes(header[28:32], "big")
    free, first_free = int.from_bytes(header[36:40], "big"), int.from_bytes(header[32:36], "big")
    # The tree of the schema begins in the first page: a leaf without cells is a database without tables.
    tree = reader.take(_TREE, "its first page")
    is_empty = tree[0] == _LEAF and not any(tree[3:])
    source.drain()
    size = source.offset
    if header[24:28] != header[92:96] or not pages:
        pages = (size + page_size - 1) // page_size
    if size < pages * page_size:
        raise reader.broken(f"it has {size} bytes, but {pages} pages of {page_size} bytes need {pages * page_size}")
    if free >= pages or first_free > pages:
        raise reader.broken(f"its header says that {free} of {pages} pages are free, from page {first_free} on")
    if is_empty:
        message = "The SQLite database has no tables: sqlite3 makes such a one where there is none"
        raise BrokenContent("sqlite", message, verdict="suspicious")
    return f"The SQLite database has all its {pages} pages"


FORMAT = Format(
    kind="sqlite",
    label="SQLite database",
    suffixes=(".sqlite", ".sqlite3"),
    recognizes=lambda head: head.startswith(START),
    check=check,
)
