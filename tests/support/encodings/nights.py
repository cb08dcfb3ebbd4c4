"""A series of dumps of one database: each night some rows all over it change, some are deleted, some are new."""

import random
from collections.abc import Iterator

STATES = (b"done", b"done", b"shipped", b"new")


def interleaved(parts: list[bytes], *, seed: int, block: int = 256 << 10) -> bytes:
    """Put contents together in turns, a block of each, as mongodump does with its namespaces."""
    chance, left, pieces = random.Random(seed), list(parts), list[bytes]()
    while left:
        number = chance.randrange(len(left))
        size = block // 2 + chance.randrange(block)
        pieces.append(left[number][:size])
        left[number] = left[number][size:]
        if not left[number]:
            del left[number]
    return b"".join(pieces)


def row(chance: random.Random, number: int) -> bytes:
    return b"INSERT INTO orders VALUES (%d,%d,'2028-%02d-%02d','%s',%d.%02d,'%s');\n" % (
        number,
        chance.randrange(120_000),
        number % 12 + 1,
        number % 28 + 1,
        chance.choice(STATES),
        chance.randrange(1000),
        chance.randrange(100),
        chance.randbytes(16).hex().encode(),
    )


def nights(count: int, rows: int, *, changed: float = 0.008, seed: int = 1) -> Iterator[bytes]:
    """Yield the dumps, oldest first, of about 100 bytes for each row. `changed` is the share of rows that change."""
    chance = random.Random(seed)
    table = [row(chance, number) for number in range(rows)]
    next_number = rows
    for _ in range(count):
        yield b"-- dump\n" + b"".join(table) + b"-- end\n"
        for _ in range(round(rows * changed)):
            place = chance.randrange(len(table))
            table[place] = row(chance, place)
        del table[: rows // 1000]
        table += [row(chance, next_number + number) for number in range(rows // 600)]
        next_number += rows // 600
