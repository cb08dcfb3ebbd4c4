"""Recovery and reconcile: from what the storages list, and what their journals name, to rows."""

from collections.abc import Iterator
from functools import cache
from itertools import product

from .guards import Guards
from .state import (
    DAMAGED,
    FOUND,
    LEAVING,
    MISSING,
    NONE,
    PRESENT,
    RAW,
    READABLE,
    SUPERSEDED,
    WANTED,
    WRITING,
    WRONG,
    Object,
    State,
    bits,
    by_rows,
    everything,
    keeps,
    put,
    storage_name,
    used,
)


def reconcile(state: State, guards: Guards) -> Iterator[tuple[str, State]]:
    """Compare the rows of a storage with its listing and its journal, after the database was restored or recovered.

    A storage that does not answer is named as lost by the operator: all its rows are missing.
    """
    for storage in bits(state.frozen):
        after = state._replace(frozen=state.frozen & ~(1 << storage))
        if storage == state.away:
            objects = (_missing(one) if one.storage == storage else one for one in after.objects)
            adopted = after.adopted & ~(1 << storage)
            yield f"{storage_name(storage)} is named as lost", after._replace(objects=tuple(objects), adopted=adopted)
            continue
        for one in state.objects:
            if one.storage == storage:
                after = put(after, (one, _listed(one, keeps(state))))
        bit = 1 << storage
        versions = (
            one._replace(in_database=True) if one.is_owed and one.named & bit else one for one in after.versions
        )
        adopted = after.adopted | bit if guards.adopts_all or state.adopted & bit else after.adopted
        yield f"{storage_name(storage)} is reconciled", after._replace(versions=tuple(versions), adopted=adopted)


def _listed(one: Object, keeps: bool) -> Object:
    """Return what a row becomes whose bytes are listed, or not; and bytes without a row."""
    if not one.bytes:
        if one.state in {PRESENT, DAMAGED, MISSING}:
            return one._replace(state=MISSING)
        return one if one.state in {NONE, WANTED} else one._replace(state=NONE, is_kept=False)
    if one.state in {NONE, WRITING}:  # the job that wrote it belongs to a night that is lost
        return one._replace(state=FOUND, is_kept=keeps)
    if one.state == MISSING:
        return one._replace(state=PRESENT)
    return one._replace(is_kept=keeps and one.state in {SUPERSEDED, LEAVING, FOUND})


def says_missing(state: State, storage: int, guards: Guards) -> set[int]:
    """Return the contents that the report about a reconciled storage says are in no storage."""
    places = by_rows(state, READABLE)
    if not guards.says_missing_of_all:
        return used(state) - {content for found, content in places if found == storage}
    return set() if state.frozen else used(state) - {content for _, content in places}


def _missing(one: Object) -> Object:
    return one._replace(state=MISSING) if one.state in {PRESENT, DAMAGED} else one


def recovered(state: State, storages: int, guards: Guards) -> list[State]:
    """Return the state after a recovery of a lost database from these storages (bits). The first of them is the first.

    The journal says what exists, the listings say where. Faulty recoveries may have several results.
    """
    versions = tuple(one._replace(in_database=bool(one.named & storages), was=False) for one in state.versions)
    known = frozenset((one.content, one.line) for one in versions if one.in_database)
    first = state.first if storages >> state.first & 1 else next(bits(storages))
    results = []
    for objects in recovered_objects(bare(state), storages, known, guards):
        placed = sum({1 << one.storage for one in objects if one.state == PRESENT})
        results.append(
            state._replace(
                objects=objects,
                versions=versions,
                first=first,
                adopted=storages if guards.adopts_all else placed,
                frozen=everything(state) & ~storages,
                backup=None,
            )
        )
    return results


def bare(state: State) -> tuple[Object, ...]:
    """Return what is left of the objects without the database and without processes."""
    return tuple(Object(one.content, one.storage, one.base, one.bytes) for one in state.objects if one.bytes)


@cache
def recovered_objects(
    listed: tuple[Object, ...], storages: int, known: frozenset[tuple[int, int]], guards: Guards
) -> tuple[tuple[Object, ...], ...]:
    """Return the objects with their new rows. `known` are the named contents, with the storages of their lines."""
    results = []
    for chosen in _choices(listed, storages, known, guards):
        objects = []
        for number, one in enumerate(listed):
            if number in chosen:
                one = one._replace(state=PRESENT)
            elif storages >> one.storage & 1 and _registers_all(guards):
                one = one._replace(state=FOUND)
            objects.append(one)
        results.append(tuple(objects))
    return tuple(results)


def _registers_all(guards: Guards) -> bool:
    """Return whether what was not chosen gets a row, too. A recovery without the fixed point leaves it to a sweep."""
    return guards.prefers_bases_that_exist and guards.uses_the_fixed_point and guards.listings_say_where


def _choices(
    bare: tuple[Object, ...], storages: int, known: frozenset[tuple[int, int]], guards: Guards
) -> list[set[int]]:
    """Return which objects (their indexes) become the current ones; nobody has read them yet."""
    lines = dict(known)
    if not guards.listings_say_where and len(lines) < len(known):
        return [set()]  # the recovery ends with an error
    listed = {number: one for number, one in enumerate(bare) if storages >> one.storage & 1}
    if _registers_all(guards):
        return [_lowest_ranks(listed)]
    options = []
    places = sorted({(one.storage, one.content) for one in listed.values() if one.content in lines})
    for storage, content in places:
        those = [n for n, one in listed.items() if (one.storage, one.content) == (storage, content)]
        if not guards.listings_say_where:
            those = those if storage == lines[content] else []
        elif guards.prefers_bases_that_exist:
            has_base = [n for n in those if bare[n].base == RAW or (storage, bare[n].base) in places]
            those = has_base or those
        options.append(those or [-1])
    return [set(choice) for choice in product(*options)]


def _lowest_ranks(listed: dict[int, Object]) -> set[int]:
    """Return of each content in each storage the object of lowest rank: raw, difference to raw, and so on.

    Of several, one with wrong bytes: nobody knows yet.
    """
    chosen: dict[tuple[int, int], int] = {}
    while True:
        ready = [
            (one.base, one.bytes != WRONG, number)
            for number, one in listed.items()
            if (one.storage, one.content) not in chosen and (one.base == RAW or (one.storage, one.base) in chosen)
        ]
        if not ready:
            return set(chosen.values())
        for _, _, number in sorted(ready):
            one = listed[number]
            chosen.setdefault((one.storage, one.content), number)
