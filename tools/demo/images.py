"""Draws small PNG pictures of mountains, so that the gallery of the demonstration has something to show."""

import math
import struct
import zlib
from random import Random

WIDTH, HEIGHT = 240, 180
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def draw_landscape(seed: str) -> bytes:
    """Return a PNG picture, the same for the same seed: a sky, a sun and two ranges of mountains in one hue."""
    random = Random(seed)
    hue = random.random()
    sky, far, near, sun = (_colour(hue, light) for light in (0.84, 0.66, 0.42, 0.93))
    ranges = [_range(random, 0.45), _range(random, 0.68)]
    centre, radius = (random.randrange(40, WIDTH - 40), random.randrange(30, 60)), random.randrange(14, 24)
    rows = bytearray()
    for y in range(HEIGHT):
        rows.append(0)  # no filter
        for x in range(WIDTH):
            if y > ranges[1][x]:
                rows += near
            elif y > ranges[0][x]:
                rows += far
            else:
                rows += sun if math.dist((x, y), centre) < radius else sky
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    parts = _chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(bytes(rows), 9)), _chunk(b"IEND", b"")
    return _SIGNATURE + b"".join(parts)


def _range(random: Random, height: float) -> list[float]:
    """Return the upper edge of a range of mountains for each column, in pixels from the top."""
    waves = [(random.uniform(4, 18), random.uniform(0.02, 0.09), random.uniform(0, 6)) for _ in range(3)]
    return [
        HEIGHT * height + sum(size * abs(math.sin(speed * x + shift)) for size, speed, shift in waves) - 20
        for x in range(WIDTH)
    ]


def _colour(hue: float, lightness: float) -> bytes:
    """Return three bytes, red, green and blue, of a soft colour."""
    channels = (0.5 + 0.5 * math.cos(2 * math.pi * (hue + shift)) for shift in (0, 1 / 3, 2 / 3))
    return bytes(int(255 * (lightness + (channel - 0.5) * 0.36 * (1 - abs(2 * lightness - 1)))) for channel in channels)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
