"""What happens to the service: clients, bit rot, losses, operators. How often is limited by `State.left`."""

from collections.abc import Iterator

from .guards import Guards
from .recovery import recovered
from .state import (
    CURRENT,
    DOOMED,
    LEAVING,
    MISSING,
    NOBODY,
    NONE,
    PRESENT,
    RAW,
    SOUND,
    THERE,
    WANTED,
    WRITING,
    WRONG,
    Object,
    State,
    bits,
    by_rows,
    content_name,
    each,
    everything,
    mirror,
    name,
    next_one,
    put,
    spend,
    storage_name,
    used,
)
from .uploads import start_uploads

Steps = Iterator[tuple[str, State]]


def environment_steps(state: State, guards: Guards, contents: int) -> Steps:
    """Yield all that may happen next."""
    left = state.left
    if left.uploads:
        yield from start_uploads(state, contents)
    if left.deletions:
        yield from delete_versions(state)
    if left.encodings:
        yield from encode(state)
    if left.flips:
        yield from flip(state)
    if left.losses:
        yield from lose(state)
    if left.outages or state.away is not None:
        yield from outage(state)
    if left.promotions:
        yield from promote(state, guards)
    if left.moves:
        yield from move(state, guards)
    if left.backups:
        yield from back_up(state)
    if left.restores and state.backup:
        yield "the database of the last night is restored", restored(state)
    if left.recoveries:
        yield from recover(state, guards)


def delete_versions(state: State) -> Steps:
    """A client deletes a version for good."""
    for one in sorted(set(state.versions)):
        if one.is_owed and one.in_database:
            versions = list(state.versions)
            versions.remove(one)
            if one.was:
                versions.append(one._replace(in_database=False, is_owed=False, named=0))
            yield (
                f"a version of {content_name(one.content)} is deleted",
                spend(state, "deletions")._replace(versions=tuple(versions)),
            )


def encode(state: State) -> Steps:
    """The planner lets an object be stored in another way: as the difference to another content, or raw."""
    there = by_rows(state, THERE)
    for one in each(state.objects):
        if one.state != PRESENT or one.storage == state.away or next_one(state, one.content, one.storage):
            continue
        bases = {base for storage, base in there if storage == one.storage and base != one.content} & used(state)
        for base in sorted(bases | {RAW}):
            if base != one.base:
                new = Object(one.content, one.storage, base, state=WRITING)
                yield f"the planner wants {name(new)}", put(spend(state, "encodings"), (None, new))


def flip(state: State) -> Steps:
    """A bit of an object flips, and nobody notices."""
    for one in each(state.objects):
        if one.bytes == SOUND and one.state not in {NONE, WRITING}:
            yield f"a bit of {name(one)} flips", put(spend(state, "flips"), (one, one._replace(bytes=WRONG)))


def lose(state: State) -> Steps:
    """A storage burns, with its journal, and is replaced by an empty one."""
    for storage in (0, 1):
        if storage == state.away or not any(one.storage == storage and one.bytes for one in state.objects):
            continue
        after = spend(state, "losses")
        for one in state.objects:
            if one.storage == storage:
                row = MISSING if one.state in CURRENT else WANTED if one.state == WANTED else NONE
                after = put(after, (one, one._replace(bytes=NONE, state=row, was=())))
        versions = (one._replace(named=one.named & ~(1 << storage)) for one in state.versions)
        yield f"{storage_name(storage)} burns", after._replace(versions=tuple(versions))


def outage(state: State) -> Steps:
    """A storage does not answer for a while."""
    if state.away is not None:
        unknown = 0 if state.adopted >> state.away & 1 else 1 << state.away  # it was named as lost meanwhile
        yield f"{storage_name(state.away)} is back", state._replace(away=None, frozen=state.frozen | unknown)
    else:
        for storage in (0, 1):
            yield f"{storage_name(storage)} does not answer", spend(state, "outages")._replace(away=storage)


def promote(state: State, guards: Guards) -> Steps:
    """The storage of second copies becomes the first one."""
    storage = mirror(state)
    if storage == state.away:
        return
    after = spend(state, "promotions")._replace(first=storage)
    if not guards.promotion_changes_no_object:
        for one in state.objects:
            if one.storage != storage and one.state == PRESENT:
                after = put(after, (one, one._replace(state=MISSING)))
    yield f"{storage_name(storage)} is promoted", after


def move(state: State, guards: Guards) -> Steps:
    """A collection is moved to the storage 2."""
    for collection, storage in enumerate(state.homes):
        if storage is None:
            homes = (*state.homes[:collection], 2, *state.homes[collection + 1 :])
            after = spend(state, "moves")._replace(homes=homes)
            if not guards.move_changes_no_object:
                for one in state.objects:
                    if one.state == PRESENT and one.storage == mirror(state):
                        wanted = Object(one.content, one.storage, state=WANTED)
                        after = put(after, (one, one._replace(state=LEAVING, is_kept=True)), (None, wanted))
            yield f"the collection {collection} is moved to C", after


def back_up(state: State) -> Steps:
    """The operator backs up the database."""
    objects = tuple(one._replace(was=(one.state, one.is_kept) if one.state else ()) for one in state.objects)
    versions = tuple(one._replace(was=one.in_database) for one in state.versions)
    after = spend(state, "backups")._replace(objects=objects, versions=versions, backup=(state.first, state.homes))
    yield "the database is backed up", after


def restored(state: State) -> State:
    """Return the state after the operator has restored the backup, and let it adopt all storages.

    The service was stopped for that: no process remembers anything.
    """
    assert state.backup is not None
    after = spend(state, "restores")
    for one in state.objects:
        row, is_kept = one.was or (NONE, False)
        if row == WANTED:  # it had no key: the bytes were stored later
            after, row = put(after, (None, Object(one.content, one.storage, state=WANTED))), NONE
        was = one._replace(state=row, is_kept=is_kept, upload=NOBODY, sees=NOBODY, is_aimed=row == DOOMED, was=())
        after = put(after, (one, was))
    versions = tuple(one._replace(in_database=one.was, was=False) for one in state.versions)
    first, homes = state.backup
    return after._replace(
        versions=tuple(one for one in versions if one.in_database or one.is_owed),
        first=first,
        homes=homes,
        backup=None,
        frozen=everything(state),
    )


def recover(state: State, guards: Guards) -> Steps:
    """The database is lost, and recovered from some of the storages."""
    for storages in range(1, everything(state) + 1):
        if any(one.named & storages for one in state.versions) and state.away not in [*bits(storages)]:
            names = " and ".join(storage_name(one) for one in bits(storages))
            for after in recovered(spend(state, "recoveries"), storages, guards):
                yield f"the database is lost, and recovered from {names}", after
