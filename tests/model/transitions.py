"""What the service does, one step at a time: a step is one transaction, one store, or one delete.

Each function yields (what happens, the state after it). A crash is to stop between two steps.
"""

from collections.abc import Iterator

from .gate import delete, doom
from .guards import Guards
from .recovery import reconcile
from .state import (
    CURRENT,
    DAMAGED,
    DOOMED,
    FOUND,
    LASTING,
    LEAVING,
    MISSING,
    NOBODY,
    NONE,
    PRESENT,
    RAW,
    SOUND,
    SOURCES,
    SUPERSEDED,
    THERE,
    WANTED,
    WRITING,
    WRONG,
    Object,
    State,
    by_rows,
    content_name,
    current,
    decodable,
    each,
    is_decodable,
    keeps,
    mirror,
    name,
    next_one,
    promised,
    put,
    spend,
    storage_name,
    used,
    without_next,
)
from .uploads import commit_uploads

Steps = Iterator[tuple[str, State]]


def service_steps(state: State, guards: Guards) -> Steps:
    """Yield all that a process of the service may do next."""
    yield from commit_uploads(state, guards)
    yield from want(state)
    yield from begin(state, guards)
    yield from store(state)
    yield from finish(state, guards)
    yield from read(state)
    yield from take(state, guards)
    yield from part(state)
    yield from find(state, guards)
    yield from doom(state, guards)
    yield from delete(state, guards)
    yield from write_catalogue(state)
    yield from reconcile(state, guards)
    yield from wait_two_days(state)


def want(state: State) -> Steps:
    """A storage lacks a content that it promises."""
    there = by_rows(state, THERE)
    for content in used(state):
        if not _has_source(state, content):
            continue
        for storage in promised(state, content):
            if (storage, content) not in there and next_one(state, content, storage) is None:
                yield (
                    f"{content_name(content)} is wanted in {storage_name(storage)}",
                    put(state, (None, Object(content, storage, state=WANTED))),
                )


def begin(state: State, guards: Guards) -> Steps:
    """A job gives a wanted object its key: it will be raw, or a difference as that in another storage; or forgets it.

    It tries again when the bytes of the last attempt are deleted.
    """
    there = by_rows(state, THERE)
    for one in each(state.objects):
        if one.state != WANTED or any(_is_remainder(x, one) for x in state.objects):
            continue
        is_needed = one.storage in promised(state, one.content) and (one.storage, one.content) not in there
        if not is_needed:
            yield f"{name(one)} is not needed", put(state, (one, None))
            continue
        if not _has_source(state, one.content):
            continue
        for base in sorted({RAW, *(x.base for x in state.objects if _is_elsewhere(x, one))}):
            new = one._replace(state=WRITING, base=base)
            if not (guards.refuses_circles and _needs_itself(state, new)):
                yield f"the job begins {name(new)}", put(state, (one, new))


def _is_elsewhere(one: Object, of: Object) -> bool:
    return one.state == PRESENT and one.content == of.content and one.storage != of.storage


def _is_remainder(one: Object, of: Object) -> bool:
    return one.state == DOOMED and (one.content, one.storage) == (of.content, of.storage)


def store(state: State) -> Steps:
    """The bytes of a new object: of any that can be read. As it is, a wrong one is copied with its fault."""
    readable = _readable(state)
    for one in each(state.objects):
        if one.state != WRITING or one.bytes or one.storage == state.away:
            continue
        if one.content in readable:
            yield f"the job stores {name(one)}", put(state, (one, one._replace(bytes=SOUND)))
        if any(_is_wrong_source(x, one) for x in state.objects if x.storage != state.away):
            yield f"the job stores {name(one)} with a fault", put(state, (one, one._replace(bytes=WRONG)))


def _is_wrong_source(source: Object, one: Object) -> bool:
    return (
        source.bytes == WRONG
        and source.state == PRESENT
        and (source.content, source.base) == (one.content, one.base)
        and source != one
    )


def _has_source(state: State, content: int) -> bool:
    """Return whether the rows name an object from which a content can be copied."""
    return any(found == content for _, found in by_rows(state, SOURCES))


def _readable(state: State) -> set[int]:
    """Return the contents that can be read now. Whoever reads a content compares its digest."""
    there = (x for x in state.objects if x.state in SOURCES and x.bytes == SOUND and x.storage != state.away)
    return {content for _, content in decodable(there)}


def finish(state: State, guards: Guards) -> Steps:
    """The transaction that makes a new object the current one, after it was read back; or its process was killed."""
    for one in each(state.objects):
        if one.state != WRITING:
            continue
        dooms = put(state, (one, one._replace(state=DOOMED, is_aimed=True)))
        if state.left.kills:
            yield f"{name(one)} is abandoned", spend(dooms, "kills")
        if not one.bytes:
            if one.content not in _readable(state):
                yield f"{name(one)} has no source", dooms
            continue
        old = current(state, one.content, one.storage)
        is_bad = guards.reads_back and one.bytes == WRONG
        is_in_vain = one.content not in used(state) and any(_is_instead(x, one) for x in state.objects)
        if is_bad or is_in_vain or (guards.refuses_circles and _needs_itself(state, one)):
            yield f"{name(one)} is not used", _doubt(dooms, one) if is_bad else dooms
            continue
        changes = [(old, old._replace(state=SUPERSEDED, is_kept=keeps(state)))] if old else []
        after = put(state, *changes, (one, one._replace(state=PRESENT)))
        yield f"{name(one)} becomes the current one", after


def _is_instead(one: Object, of: Object) -> bool:
    return one.state in SOURCES and (one.content, one.storage) == (of.content, of.storage)


def _doubt(state: State, one: Object) -> State:
    """Mark the source of wrong bytes: the job compares it with its digest, too."""
    for source in state.objects:
        if _is_wrong_source(source, one) and source.state in CURRENT:
            state = put(state, (source, source._replace(state=DAMAGED)))
    return state


def _needs_itself(state: State, one: Object, states: frozenset[str] = THERE) -> bool:
    """Return whether the base of a new object is not decodable here by current objects of other contents."""
    others = decodable(x for x in state.objects if x.state in states and x.content != one.content)
    return not is_decodable(one, others)


def read(state: State) -> Steps:
    """Verification notices that a current object is damaged or missing, or is right again."""
    for one in each(state.objects):
        found = {SOUND: PRESENT, WRONG: DAMAGED, NONE: MISSING}[one.bytes]
        if one.state in CURRENT and one.state != found and one.storage != state.away:
            yield f"{name(one)} is read: {found}", put(state, (one, one._replace(state=found)))


def take(state: State, guards: Guards) -> Steps:
    """An object that was found, or is leaving or superseded, becomes the current one where none can be decoded.

    That is where the content is promised or is a base, or anywhere if it has no current object at all. All its bytes
    are read before.
    """
    there = by_rows(state, THERE)
    for one in each(state.objects):
        if one.state not in {FOUND, LEAVING, SUPERSEDED} or one.bytes != SOUND or one.storage == state.away:
            continue
        storages = promised(state, one.content)
        is_nowhere = bool(storages) and all(content != one.content for _, content in there)
        is_base = one.state == FOUND and any(_needs(x, one) for x in state.objects)
        is_lacking = (one.storage in storages or is_base) and (one.storage, one.content) not in there
        if not (is_lacking or is_nowhere) or (guards.refuses_circles and _needs_itself(state, one, SOURCES)):
            continue
        old = current(state, one.content, one.storage)
        changes = [(old, old._replace(state=SUPERSEDED, is_kept=keeps(state)))] if old else []
        new = one._replace(state=PRESENT, is_kept=False)
        after = without_next(put(state, *changes, (one, new)), one.content, one.storage)
        yield f"{name(one)} is taken back", after


def _needs(one: Object, base: Object) -> bool:
    return one.state in LASTING and (one.storage, one.base) == (base.storage, base.content)


def part(state: State) -> Steps:
    """An object that no file needs here any more: nothing uses the content, or only collections of other storages."""
    sound = by_rows(state, THERE)
    for one in each(state.objects):
        if one.state not in CURRENT:
            continue
        storages = promised(state, one.content)
        if not storages:
            new = one._replace(state=LEAVING, is_kept=keeps(state) and one.storage == mirror(state))
            yield f"{name(one)} is leaving", put(state, (one, new))
        elif one.storage not in storages and all((other, one.content) in sound for other in storages):
            yield f"{name(one)} was moved away", put(state, (one, one._replace(state=SUPERSEDED, is_kept=keeps(state))))


def find(state: State, guards: Guards) -> Steps:
    """A sweep lists bytes without a row, also those of uploads that have no row yet."""
    for one in each(state.objects):
        if one.state or not one.bytes or one.storage == state.away or one.is_aimed:
            continue
        if guards.registers_before_deleting:
            if not state.frozen >> one.storage & 1:
                yield f"a sweep finds {name(one)}", put(state, (one, one._replace(state=FOUND, is_kept=keeps(state))))
        elif one.upload == NOBODY:
            yield f"a sweep notes {name(one)} for deletion", put(state, (one, one._replace(is_aimed=True)))


def write_catalogue(state: State) -> Steps:
    """Each storage that was adopted gets the names of all versions."""
    for storage in range(state.storages):
        bit = 1 << storage
        if not state.adopted & bit or storage == state.away:
            continue
        versions = tuple(one._replace(named=one.named | bit) if one.in_database else one for one in state.versions)
        if versions != state.versions:
            yield f"a catalogue is written to {storage_name(storage)}", state._replace(versions=versions)


def wait_two_days(state: State) -> Steps:
    """The time of all that is kept is over. No backup of the database is older than that."""
    if any(one.is_kept for one in state.objects):
        objects = tuple(one._replace(is_kept=False, was=()) for one in state.objects)
        versions = tuple(one._replace(was=False) for one in state.versions)
        yield "two days pass", state._replace(objects=objects, versions=versions, backup=None)
