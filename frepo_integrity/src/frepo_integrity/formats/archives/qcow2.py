"""Checks a disk image of QEMU: that the file reaches to each cluster that its tables name (`docs/interop/qcow2.txt`).

The image is read once, so a table that is before the one that names it is not read. `qemu-img` writes them in order.
"""

import heapq
import struct
from dataclasses import dataclass, field

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader

START = b"QFI\xfb"
_HEADER = struct.Struct(">4sIQIIQIIQQIIQ")
_FEATURES = struct.Struct(">Q")
_EXTERNAL_DATA, _EXTENDED_ENTRIES = 1 << 2, 1 << 4
_OFFSET = 0x00FFFFFFFFFFFE00
_COMPRESSED = 1 << 62
_MAX_TABLES = 1 << 20
_PIECE = 4096
# The bytes of a snapshot in its table, at least.
_SNAPSHOT = 40
# Data is written in whole sectors. Tables and compressed clusters end anywhere.
_SECTOR = 512


@dataclass(kw_only=True)
class _Image:
    """What is known of an image. `tables` are those to be read: where, how many bytes, and whether it is the first one.

    `last` is a byte of the last known cluster that has to be there, and `is_data` whether that cluster is one of data.
    """

    cluster_bits: int
    entry_size: int
    tables: list[tuple[int, int, bool]] = field(default_factory=list)
    last: int = 0
    is_data: bool = False

    def add(self, entry: int, *, is_first: bool) -> None:
        """Take an entry of a table into account."""
        if is_first:
            if (offset := entry & _OFFSET) and len(self.tables) < _MAX_TABLES:
                heapq.heappush(self.tables, (offset, 1 << self.cluster_bits, False))
            self.note(offset)
        elif entry & _COMPRESSED:
            offset_bits = 70 - self.cluster_bits
            offset = entry & ((1 << offset_bits) - 1)
            more_sectors = (entry & (_COMPRESSED - 1)) >> offset_bits
            self.note(offset // _SECTOR * _SECTOR + more_sectors * _SECTOR if more_sectors else offset)
        else:
            self.note(entry & _OFFSET, is_data=True)

    def note(self, place: int, *, is_data: bool = False) -> None:
        """Take a byte into account that has to be there."""
        if place > self.last:
            self.last, self.is_data = place, is_data

    def ends_within_sector(self, size: int) -> bool:
        """Whether an image of this size ends within the last cluster, if it is one of data, but not at a sector."""
        return self.is_data and size < self.last + (1 << self.cluster_bits) and size % _SECTOR > 0


def check(source: ByteStream, budget: Budget) -> str:
    """Read the tables in their order, and compare the size."""
    reader = Reader(source, budget, "qcow2", "the disk image")
    image = _read_header(reader)
    while image.tables:
        offset, size, is_first = heapq.heappop(image.tables)
        if offset < reader.offset:
            continue
        reader.skip(offset - reader.offset, "what its tables name")
        _read_table(reader, image, size, is_first=is_first)
    source.drain()
    if image.ends_within_sector(source.offset):
        raise reader.broken(f"it ends within a sector of its last cluster, after {source.offset} bytes")
    if image.last >= source.offset:
        raise reader.broken(f"it has {source.offset} bytes, but its tables name a cluster at byte {image.last}")
    return "The disk image reaches to all clusters that its tables name"


def _read_header(reader: Reader) -> _Image:
    fields = _HEADER.unpack(reader.take(_HEADER.size, "its header"))
    version, cluster_bits, entries, table, counts = fields[1], fields[4], fields[7], fields[8], fields[9]
    snapshots, snapshot_table = fields[11], fields[12]
    if version not in {2, 3}:
        raise NotCheckable(f"disk images of version {version} are not known")
    features = _FEATURES.unpack(reader.take(_FEATURES.size, "its header"))[0] if version == 3 else 0
    if features & _EXTERNAL_DATA:
        raise NotCheckable("the data of the disk image is in another file")
    if not 9 <= cluster_bits <= 21:
        raise reader.broken(f"its header gives clusters of 2^{cluster_bits} bytes")
    image = _Image(cluster_bits=cluster_bits, entry_size=16 if features & _EXTENDED_ENTRIES else 8, last=counts)
    if snapshots:
        image.note(snapshot_table + _SNAPSHOT * snapshots - 1)
    if entries:
        image.tables.append((table, 8 * entries, True))
        image.note(table + 8 * entries - 1)
    return image


def _read_table(reader: Reader, image: _Image, size: int, *, is_first: bool) -> None:
    entry_size = 8 if is_first else image.entry_size
    for start in range(0, size, _PIECE):
        piece = reader.take(min(_PIECE, size - start), "a table")
        for at in range(0, len(piece), entry_size):
            image.add(int.from_bytes(piece[at : at + 8], "big"), is_first=is_first)


FORMAT = Format(
    kind="qcow2",
    label="qcow2",
    suffixes=(".qcow2", ".qcow"),
    recognizes=lambda head: head.startswith(START),
    check=check,
    covers="container",
)
