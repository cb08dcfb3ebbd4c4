"""Prints by how much the memory of this process grows while it encodes and decodes: `memory HOW FOLDER SIZE`."""

import ctypes
import hashlib
import json
import os
import random
import sys
from pathlib import Path

from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.encodings.decoder import DecodedContent

MIB = 1 << 20
PIECE = 8 * MIB


def unlike(path, size, number):
    chance = random.Random(number)
    with path.open("wb") as file:
        for _ in range(size // MIB):
            file.write(chance.randbytes(MIB))


def alike(path, size, number):
    unlike(path, size, 0)
    edit(path, range(0, size, MIB), number)


def sparse(path, size, number):
    chance = random.Random(0)
    with path.open("wb") as file:
        file.truncate(size)
        for start in range(0, size, 1 << 30):
            file.seek(start + start // 1000)
            file.write(chance.randbytes(PIECE))
    edit(path, [start + start // 1000 for start in range(0, size, 1 << 30)], number)


def edit(path, starts, number):
    chance = random.Random(number)
    with path.open("r+b") as file:
        for start in starts:
            for _ in range(20):
                file.seek(start + chance.randrange(MIB))
                file.write(b"changed")


def begin():
    """Forget the highest size until now; return the size now, in bytes."""
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return resident("VmRSS")


def resident(name):
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024


def digest_of(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(how, folder, size, count):
    paths = [Path(folder, f"{how}{number}") for number in range(count)]
    for number, path in enumerate(paths):
        globals()[how](path, size, number)
    digests = [digest_of(path) for path in paths]
    places = {}

    before, deltas = begin(), 0
    for number in range(count):
        target = Path(folder, f"object{number}")
        newer = min(number + 1, count - 1)
        with paths[number].open("rb") as content, paths[newer].open("rb") as base, target.open("wb+") as object_:
            about = Base(content=base, digest=digests[newer], size=size) if newer > number else None
            head = encode(content, object_, digest=digests[number], size=size, base=about)
            deltas += head.stored if about else 0
        places[digests[number]] = target
    encoding = resident("VmHWM") - before

    def open_base(digest):
        return DecodedContent(places[digest].open("rb"), digest=digest, open_base=open_base, is_base=True)

    before = begin()
    with DecodedContent(places[digests[0]].open("rb"), digest=digests[0], open_base=open_base) as reader:
        while reader.read(MIB):
            pass
    print(json.dumps({"encoding": encoding, "decoding": resident("VmHWM") - before, "deltas": deltas}))
    for path in (*paths, *places.values()):
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    os.nice(5)
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), 2 if sys.argv[1] == "sparse" else 5)
