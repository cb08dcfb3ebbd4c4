"""Histories of a content: each is made from the one before by a change that backups have."""

import random

# Small segments, so that a content of 300 KB has many, and chunks of 32 KiB are still found in them.
SEGMENT = 64 << 10


def text(chance, size):
    words = [chance.randbytes(chance.randrange(1, 12)).hex().encode() for _ in range(200)]
    return b" ".join(chance.choices(words, k=size // 2 + 1))[:size]


def shuffle(chance, content):
    size = max(1, len(content) // 7)
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    chance.shuffle(blocks)
    return b"".join(blocks)


def edit(chance, content):
    edited = bytearray(content)
    for _ in range(len(content) // 2000):
        edited[chance.randrange(len(edited))] = chance.randrange(256)
    return bytes(edited)


CHANGES = {
    "grow at the start": lambda chance, content: text(chance, 50_000) + content,
    "grow in the middle": lambda chance, content: (
        content[: len(content) // 3] + text(chance, 90_000) + content[len(content) // 3 :]
    ),
    "grow at the end": lambda chance, content: content + text(chance, 150_000),
    "shrink": lambda chance, content: content[len(content) // 4 : -len(content) // 3 or None],
    "shuffle": shuffle,
    "edit": edit,
    "binary": lambda chance, content: chance.randbytes(140_000),
    "zeros": lambda chance, content: bytes(200_000),
    "repeat": lambda chance, content: content[:70_000] * 3,
    "one segment": lambda chance, content: text(chance, SEGMENT),
    "tiny": lambda chance, content: text(chance, 7),
    "empty": lambda chance, content: b"",
    "equal": lambda chance, content: content,
}


def history(seed, changes):
    chance = random.Random(seed)
    contents = [text(chance, chance.choice([0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 300_000]))]
    for change in changes:
        contents.append(CHANGES[change](chance, contents[-1]))
    return contents
