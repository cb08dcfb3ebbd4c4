"""The small worlds that are walked completely: each for stories in which certain features meet."""

from .state import Left, State
from .walk import World


def world(*, contents: int = 1, storages: int = 2, collections: int = 1, mirrored: bool = True, **left: int) -> World:
    """Return a world with empty storages, in which things may happen so often."""
    start = State(
        homes=(None,) * collections,
        storages=storages,
        mirrored=mirrored,
        adopted=(1 << storages) - 1,
        left=Left(**left),
    )
    return World(start=start, contents=contents)


SHORT = {
    "equal uploads, a deletion and a killed job": world(uploads=2, deletions=1, kills=1),
    "a difference and a deletion": world(contents=2, uploads=2, encodings=1, deletions=1),
    "a difference and a flipped bit": world(contents=2, uploads=2, encodings=1, flips=1),
    "two differences, a deletion and a flipped bit": world(
        contents=2, mirrored=False, uploads=2, encodings=2, deletions=1, flips=1
    ),
    "a difference and a database of the last night": world(
        contents=2, mirrored=False, uploads=2, encodings=1, deletions=1, backups=1, restores=1
    ),
    "a difference and a lost database": world(
        contents=2, mirrored=False, uploads=2, encodings=1, deletions=1, recoveries=1
    ),
    "promotion there and back during an outage": world(uploads=2, outages=1, promotions=2),
    "promotion and a flipped bit": world(uploads=2, flips=1, promotions=1),
    "a burnt storage, promotion and a lost database": world(uploads=1, losses=1, promotions=1, recoveries=1),
    "a burnt storage and a database of the last night": world(uploads=1, losses=1, promotions=1, backups=1, restores=1),
    "a moved collection that shares a content": world(storages=3, collections=2, uploads=2, moves=1),
}

LONG = {
    "two differences and a database of the last night": world(
        contents=2, mirrored=False, uploads=2, encodings=2, deletions=1, backups=1, restores=1
    ),
    "two differences and a lost database": world(
        contents=2, mirrored=False, uploads=2, encodings=2, deletions=1, recoveries=1
    ),
    "a moved collection and a flipped bit": world(storages=3, collections=2, uploads=2, moves=1, flips=1),
    "a burnt storage, promotion, a lost database and a flipped bit": world(
        uploads=1, losses=1, promotions=1, recoveries=1, flips=1
    ),
    "a database of the last night, promotion and a flipped bit": world(
        uploads=1, deletions=1, flips=1, promotions=1, backups=1, restores=1
    ),
    "two differences in two storages, and a flipped bit": world(contents=2, uploads=2, encodings=2, flips=1),
    "two differences in two storages, and promotion": world(
        contents=2, uploads=2, encodings=2, deletions=1, promotions=1
    ),
    "differences among three contents": world(contents=3, mirrored=False, uploads=3, encodings=3),
    "a difference, a burnt storage and promotion": world(contents=2, uploads=2, encodings=1, losses=1, promotions=1),
}
