"""Checks a snapshot of etcd: a bbolt database, and behind it its SHA-256 (`etcdctl snapshot save`).

The pages of a bbolt database are described in `page.go` and `meta.go` of bbolt.
"""

import hashlib
import struct

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader, read_all_but

_MAGIC = b"\xed\xda\x0c\xed"
_DIGEST = 32
# Magic, version, page size, flags, root page and its sequence, page of the free list, number of pages, transaction.
_META = struct.Struct("<4sIIIQQQQQ")
_META_AT = 16


def check(source: ByteStream, budget: Budget) -> str:
    """Compare the digest. Without one it is the file of a running etcd: then only its pages are counted."""
    reader = Reader(source, budget, "etcd", "the snapshot of etcd")
    head = source.peek(4096)
    if len(head) < _META_AT + _META.size:
        raise reader.ends_within("its first page")
    _, _, page_size, _, _, _, _, pages, _ = _META.unpack_from(head, _META_AT)
    digest = hashlib.sha256()
    tail = read_all_but(source, budget, _DIGEST, digest.update)
    if tail == digest.digest():
        return "The snapshot of etcd is whole"
    if page_size and source.offset % page_size == 0 and source.offset >= pages * page_size:
        raise NotCheckable("a bbolt database has no checksum; `etcdctl snapshot save` adds one")
    raise reader.broken(f"the SHA-256 at its end is missing or wrong, it has {source.offset} bytes")


FORMAT = Format(
    kind="etcd",
    label="etcd snapshot",
    suffixes=(),
    recognizes=lambda head: head[_META_AT : _META_AT + len(_MAGIC)] == _MAGIC,
    check=check,
)
