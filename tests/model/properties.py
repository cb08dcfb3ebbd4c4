"""What must be true in every state, and of every step of the service."""

from collections.abc import Iterator
from functools import cache

from .guards import Guards
from .recovery import bare, recovered_objects, says_missing
from .state import (
    FOUND,
    LASTING,
    LEAVING,
    NEXT,
    NONE,
    PRESENT,
    READABLE,
    SOUND,
    SOURCES,
    SUPERSEDED,
    THERE,
    WRONG,
    Object,
    State,
    bits,
    by_rows,
    content_name,
    decodable,
    everything,
    home,
    name,
    owed,
    promised,
    storage_name,
    truth,
    used,
)

LOST, UNREADABLE, UNRECOVERABLE, UNTRUE, LEFT_OVER, COPIED_TWICE = (
    "lost",
    "unreadable",
    "unrecoverable",
    "untrue",
    "left over",
    "copied twice",
)


def broken_by_step(before: State, after: State, what: str, guards: Guards) -> Iterator[str]:
    """Yield what a step of the service has broken."""
    yield from _lost(before, after, what)
    if len(after.versions) > len(before.versions):
        yield from _acknowledged(after)
    if what.endswith("becomes the current one"):
        if _count_wrong(after) > _count_wrong(before):
            yield f"{UNTRUE}: wrong bytes count as a copy"
        if by_rows(before, THERE) - by_rows(after, THERE):
            yield f"{UNREADABLE}: the current objects of two contents need each other"
    if what.endswith("is reconciled"):
        for content in says_missing(after, next(bits(before.frozen & ~after.frozen)), guards) & owed(after):
            if any(found == content for _, found in truth(after)):
                yield f"{UNTRUE}: {content_name(content)} is missing"


def _lost(before: State, after: State, what: str) -> Iterator[str]:
    """Only clients, operators, bit rot and fires take anything away, never the service."""
    had, has = truth(before), truth(after)
    if had == has:
        return
    left = {content for _, content in has}
    for content in owed(before):
        places = {storage for storage, found in had if found == content}
        lost = {storage for storage in places if (storage, content) not in has}
        if lost and (content not in left or lost & promised(before, content)):
            yield f"{LOST}: {content_name(content)} by: {what}"


def _acknowledged(state: State) -> Iterator[str]:
    """What is acknowledged is in the storage of its collection, with bytes. Nobody has read them again."""
    there = decodable(one for one in state.objects if one.bytes and one.state in LASTING)
    new = state.versions[-1]
    if (home(state, new.collection), new.content) not in there:
        yield f"{LOST}: {content_name(new.content)} was acknowledged"


def _count_wrong(state: State) -> int:
    return sum(one.state == PRESENT and one.bytes == WRONG for one in state.objects)


def broken_in_state(state: State, guards: Guards) -> Iterator[str]:
    """Yield what is not true in a state."""
    yield from _unreadable(state, guards)
    yield from _untrue(state, guards)
    yield from _unrecoverable(state, guards)


def broken_by_restore(after: State) -> Iterator[str]:
    """What a restored database names as readable is there, unless a client has deleted it or it has burnt."""
    names, there = by_rows(after, SOURCES), decodable(x for x in after.objects if x.bytes and x.state in LASTING)
    for content in {found for _, found in names} - {found for _, found in there}:
        if any(one.content == content and one.is_owed and one.in_database for one in after.versions):
            yield f"{UNREADABLE}: {content_name(content)} after a restore"


def _unreadable(state: State, guards: Guards) -> Iterator[str]:
    """What a storage that answers holds, with a row, is read from it."""
    reads = READABLE if guards.promotion_changes_no_object else LASTING
    there = [one for one in state.objects if one.bytes == SOUND and one.storage != state.away]
    readable = {content for _, content in decodable(one for one in there if one.state in reads)}
    for _, content in decodable(one for one in there if one.state in READABLE):
        if content in owed(state) & used(state) and content not in readable:
            yield f"{UNREADABLE}: {content_name(content)}"


def _untrue(state: State, guards: Guards) -> Iterator[str]:
    """What status says: which contents have all their copies, as far as listings tell, and which are missing."""
    fact = decodable(one for one in state.objects if one.bytes)
    sound = by_rows(state, THERE)
    lacking = {one.content for one in state.objects if one.state in NEXT}
    for content in () if state.frozen else used(state) & owed(state):
        storages = promised(state, content)
        if guards.counts_copies:
            says_all = all((storage, content) in sound for storage in storages)
        else:
            says_all = content not in lacking and any((storage, content) in sound for storage in storages)
        if says_all and not all((storage, content) in fact for storage in storages):
            yield f"{UNTRUE}: {content_name(content)} has all its copies"


def _unrecoverable(state: State, guards: Guards) -> Iterator[str]:
    """A recovery from each set of storages finds all that is there and named there."""
    listed = bare(state)
    for storages in range(1, everything(state) + 1):
        if state.away in bits(storages):
            continue
        named = [one for one in state.versions if one.named & storages]
        wanted = {one.content for one in named if one.is_owed} & _found(listed, storages)
        if not wanted:
            continue
        known = frozenset((one.content, one.line) for one in named)
        for objects in recovered_objects(listed, storages, known, guards):
            readable = {content for _, content in decodable(x for x in objects if x.bytes == SOUND and x.state)}
            if lost := wanted - readable:
                names = " and ".join(storage_name(one) for one in bits(storages))
                yield f"{UNRECOVERABLE}: {content_name(min(lost))} from {names}"


@cache
def _found(listed: tuple[Object, ...], storages: int) -> set[int]:
    there = (one for one in listed if storages >> one.storage & 1 and one.bytes == SOUND)
    return {content for _, content in decodable(there)}


def broken_at_rest(state: State) -> Iterator[str]:
    """Yield what the service leaves undone, although it has nothing more to do in this state."""
    if state.away is not None:
        return
    fact = truth(state)
    contents = {content for _, content in fact} & owed(state) & used(state)
    for content in contents:
        if lacking := [storage for storage in promised(state, content) if (storage, content) not in fact]:
            yield f"{LEFT_OVER}: {content_name(content)} has no copy in {[storage_name(one) for one in lacking]}"
    if (owed(state) | used(state)) - {content for _, content in fact}:
        return  # something is lost, or was deleted before a restore: what it would need is left over
    for one in state.objects:
        is_over = one.state in {SUPERSEDED, LEAVING, FOUND, *NEXT} or (one.state == NONE and one.bytes)
        if is_over and (one.content in contents or one.content not in owed(state)):
            yield f"{LEFT_OVER}: {name(one)}"
    everywhere = everything(state)
    for version in state.versions:
        if version.in_database and version.named != everywhere:
            yield f"{LEFT_OVER}: the journal of a storage does not name a version of {content_name(version.content)}"
