"""The state of the model: objects, versions and storages, and what can be decoded. Nothing here reads or writes.

A row and its bytes are one `Object` here, because a key is never used twice: a row without bytes has `bytes == NONE`,
bytes without a row have `state == NONE`. Contents, storages and collections are small numbers.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import NamedTuple

NONE = ""
SOUND, WRONG = "sound", "wrong"
RAW = -1
NOBODY = -1

WANTED, WRITING, PRESENT, DAMAGED, MISSING = "wanted", "writing", "present", "damaged", "missing"
SUPERSEDED, LEAVING, FOUND, DOOMED = "superseded", "leaving", "found", "doomed"
# The object of a content in a storage that new ones replace, and the one that is being made: at most one each.
CURRENT, NEXT = frozenset({PRESENT, DAMAGED, MISSING}), frozenset({WANTED, WRITING})
# Objects that somebody may still need. What they are differences to stays with them.
LASTING = frozenset({PRESENT, SUPERSEDED, LEAVING, FOUND})
THERE = frozenset({PRESENT})
# New objects are made from these.
SOURCES = frozenset({PRESENT, SUPERSEDED, LEAVING})
# Everything that has bytes is read when nothing better is left.
READABLE = LASTING | CURRENT


class Object(NamedTuple):
    """Bytes under one key in a storage, and their row.

    `base` is the content that they are the difference to, or RAW. `is_kept`: its two days are not over. `upload` is the
    collection of the upload in flight that stored these bytes, or, `sees`, found them stored. `is_aimed`: a process is
    about to delete the bytes, whatever happens meanwhile. `was` is its row in the backup of the database.
    """

    content: int
    storage: int
    base: int = RAW
    bytes: str = NONE
    state: str = NONE
    is_kept: bool = False
    upload: int = NOBODY
    sees: int = NOBODY
    is_aimed: bool = False
    was: tuple[str, bool] | tuple[()] = ()


class Version(NamedTuple):
    """A version of a collection. `is_owed`: it was acknowledged, and no client has deleted it.

    `named` are the storages whose journal has it, as bits. `line` is the storage that its line of the journal names;
    only a recovery that believes it needs that. `was`: the backup of the database has it.
    """

    content: int
    collection: int
    in_database: bool = True
    is_owed: bool = True
    named: int = 0
    line: int = 0
    was: bool = False


class Left(NamedTuple):
    """How often each thing may still happen."""

    uploads: int = 0
    deletions: int = 0
    encodings: int = 0
    kills: int = 0
    flips: int = 0
    losses: int = 0
    outages: int = 0
    promotions: int = 0
    moves: int = 0
    backups: int = 0
    restores: int = 0
    recoveries: int = 0
    refusals: int = 0


class State(NamedTuple):
    """Everything.

    `homes` are the storages of the collections, None: the first one. Without `mirrored` there are no second copies.
    `away` does not answer. `frozen` are the storages that were not reconciled since the database was restored or
    recovered, and `adopted` those that get the journal, as bits. `backup` has `first` and `homes` of the backup of the
    database.
    """

    objects: tuple[Object, ...] = ()
    versions: tuple[Version, ...] = ()
    first: int = 0
    homes: tuple[int | None, ...] = (None,)
    mirrored: bool = True
    storages: int = 2
    away: int | None = None
    frozen: int = 0
    adopted: int = 0
    backup: tuple[int, tuple[int | None, ...]] | None = None
    left: Left = Left()


Places = frozenset[tuple[int, int]]


def decodable(objects: Iterable[Object]) -> Places:
    """Return (storage, content) for each content that these objects hold: raw, or with a base that is decodable there.

    This is a least fixed point: two differences that need each other are not decodable.
    """
    found, waiting = set[tuple[int, int]](), list[Object]()
    for one in objects:
        if one.base == RAW:
            found.add((one.storage, one.content))
        else:
            waiting.append(one)
    while ready := [one for one in waiting if (one.storage, one.base) in found]:
        found.update((one.storage, one.content) for one in ready)
        waiting = [one for one in waiting if one not in ready]
    return frozenset(found)


def is_decodable(one: Object, found: Places) -> bool:
    """Return whether an object is raw, or its base is decodable."""
    return one.base == RAW or (one.storage, one.base) in found


def by_rows(state: State, states: frozenset[str], *, read: bool = False) -> Places:
    """Return what is decodable if the rows in these states tell the truth; `read`: their bytes are read for that."""
    return _by_rows(state.objects, states, read)


@cache
def _by_rows(objects: tuple[Object, ...], states: frozenset[str], read: bool) -> Places:
    return decodable(one for one in objects if one.state in states and (one.bytes == SOUND or not read))


def truth(state: State) -> Places:
    """Return what is decodable in fact: by right bytes that are not doomed, being written, or of an open upload."""
    return _truth(state.objects)


@cache
def _truth(objects: tuple[Object, ...]) -> Places:
    return decodable(
        one
        for one in objects
        if one.bytes == SOUND and one.state not in {DOOMED, WRITING} and (one.state or one.upload == NOBODY)
    )


def owed(state: State) -> set[int]:
    """Return the contents that clients rely on, whatever the database knows."""
    return {version.content for version in state.versions if version.is_owed}


def used(state: State) -> set[int]:
    """Return the contents that the database says are used."""
    return {version.content for version in state.versions if version.in_database}


def everything(state: State) -> int:
    """Return all storages, as bits."""
    return (1 << state.storages) - 1


def home(state: State, collection: int) -> int:
    """Return the storage of a collection."""
    named = state.homes[collection]
    return state.first if named is None else named


def mirror(state: State) -> int:
    """Return the storage of second copies: 1, and 0 after its promotion."""
    return 0 if state.first == 1 else 1


def promised(state: State, content: int) -> set[int]:
    """Return the storages that promise a content: those of all collections that have it, and that of second copies."""
    homes = {home(state, one.collection) for one in state.versions if one.in_database and one.content == content}
    return homes | {mirror(state)} if homes and state.mirrored else homes


def current(state: State, content: int, storage: int) -> Object | None:
    """Return the current object of a content in a storage."""
    return _first(one for one in state.objects if _is_of(one, content, storage) and one.state in CURRENT)


def next_one(state: State, content: int, storage: int) -> Object | None:
    """Return the object that is wanted or being written."""
    return _first(one for one in state.objects if _is_of(one, content, storage) and one.state in NEXT)


def put(state: State, *changes: tuple[Object | None, Object | None]) -> State:
    """Return the state with objects replaced: (old, new), without the old one: added."""
    objects = list(state.objects)
    for old, new in changes:
        if old is not None:
            objects.remove(old)
        if new is not None and (new.bytes or new.state or new.was or new.upload >= 0 or new.sees >= 0):
            objects.append(new)
    return state._replace(objects=tuple(objects))


def without_next(state: State, content: int, storage: int) -> State:
    """Return the state in which nothing is wanted or written there, because another object is the current one."""
    one = next_one(state, content, storage)
    if one is None:
        return state
    return put(state, (one, one._replace(state=DOOMED, is_aimed=True) if one.state == WRITING else None))


def keeps(state: State) -> bool:
    """Return whether what is superseded is kept for two days: that matters only if a backup may be restored."""
    return state.left.restores > 0


def spend(state: State, name: str) -> State:
    """Return the state in which this has happened once more."""
    return state._replace(left=state.left._replace(**{name: getattr(state.left, name) - 1}))


def each(objects: tuple[Object, ...]) -> Iterator[Object]:
    """Yield the objects of a state, which are sorted: of equal ones only the first."""
    return (one for one, _ in groupby(objects))


def bits(number: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set."""
    return (bit for bit in range(number.bit_length()) if number >> bit & 1)


def _is_of(one: Object, content: int, storage: int) -> bool:
    return one.content == content and one.storage == storage


def _first(objects: Iterable[Object]) -> Object | None:
    return next(iter(objects), None)


def name(one: Object) -> str:
    """Return how an object is called in a story: `X-Y in A` is X as the difference to Y in the storage A."""
    flipped = "flipped " if one.bytes == WRONG else ""
    form = content_name(one.content) if one.base == RAW else f"{content_name(one.content)}-{content_name(one.base)}"
    return f"{flipped}{form} in {storage_name(one.storage)} ({one.state or 'no row'})"


def content_name(content: int) -> str:
    """Return how a content is called in a story."""
    return "XYZ"[content]


def storage_name(storage: int) -> str:
    """Return how a storage is called in a story."""
    return "ABC"[storage]
