"""The CRC-64 of Redis (`crc64.c`), fast enough for gigabytes without a compiled extension.

A block is split into lanes of equal length, whose checksums are calculated at the same time: step by step, each
operation works on one byte of all lanes. At the end they are put together, as a checksum is linear.
"""

import functools

# The polynomial of Jones, reflected; start and final value are 0.
_POLYNOMIAL = 0x95AC9329AC4BC9B5
_LANE = 256
_LANES = 512
BLOCK = _LANE * _LANES


@functools.cache
def _table() -> list[int]:
    """Return the checksum of each byte."""
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


@functools.cache
def _planes() -> list[bytes]:
    """Return the same table as eight, one for each byte of its values, the lowest first."""
    return [bytes(value >> shift & 0xFF for value in _table()) for shift in range(0, 64, 8)]


@functools.cache
def _after_lane() -> list[list[int]]:
    """Return what becomes of each byte of a checksum when a lane of zeros follows."""
    return [[_add_bytes(byte << shift, bytes(_LANE)) for byte in range(256)] for shift in range(0, 64, 8)]


def _add_bytes(value: int, data: bytes) -> int:
    table = _table()
    for byte in data:
        value = (value >> 8) ^ table[(value ^ byte) & 0xFF]
    return value


def _add_block(value: int, block: bytes) -> int:
    states = [0] * 9  # bytes 0 to 7 of the checksums of all lanes; the ninth is always 0
    planes = _planes()
    for step in range(_LANE):
        index = (states[0] ^ int.from_bytes(block[step::_LANE], "little")).to_bytes(_LANES, "little")
        for place in range(8):
            states[place] = states[place + 1] ^ int.from_bytes(index.translate(planes[place]), "little")
    lanes = zip(*(state.to_bytes(_LANES, "little") for state in states[:8]), strict=True)
    after = _after_lane()
    for lane in lanes:
        shifted = 0
        for table, byte in zip(after, value.to_bytes(8, "little"), strict=True):
            shifted ^= table[byte]
        value = shifted ^ int.from_bytes(bytes(lane), "little")
    return value


class Crc64:
    """The CRC-64 of the bytes that were added."""

    def __init__(self) -> None:
        self._value = 0
        self._waiting = b""

    def add(self, data: bytes) -> None:
        """Add bytes."""
        self._waiting += data
        while len(self._waiting) >= BLOCK:
            self._value = _add_block(self._value, self._waiting[:BLOCK])
            self._waiting = self._waiting[BLOCK:]

    @property
    def value(self) -> int:
        """The checksum of all bytes so far."""
        return _add_bytes(self._value, self._waiting)
