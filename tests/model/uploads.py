"""Uploads: the bytes first, outside of any transaction, then one transaction that acknowledges the version."""

from collections.abc import Iterator

from .guards import Guards
from .state import (
    FOUND,
    LASTING,
    LEAVING,
    NOBODY,
    NONE,
    PRESENT,
    SOUND,
    SUPERSEDED,
    WANTED,
    Object,
    State,
    Version,
    by_rows,
    current,
    decodable,
    each,
    home,
    is_decodable,
    keeps,
    name,
    next_one,
    promised,
    put,
    spend,
    without_next,
)

Steps = Iterator[tuple[str, State]]


def start_uploads(state: State, contents: int) -> Steps:
    """A client uploads a content: the service finds that it has it, or stores the bytes, without a row."""
    for content in range(contents):
        for collection in range(len(state.homes)):
            storage = home(state, collection)
            if storage == state.away:
                continue
            after = spend(state, "uploads")
            known = [one for one in each(state.objects) if _is_usable(state, one, content, storage)]
            for one in known:
                yield f"an upload sees {name(one)}", put(after, (one, one._replace(sees=collection)))
            if not known:
                new = Object(content, storage, bytes=SOUND, upload=collection)
                yield f"an upload stores {name(new)}", put(after, (None, new))


def _is_usable(state: State, one: Object, content: int, storage: int) -> bool:
    """Return whether an upload may use an object: its row says that it is there, and so does the storage."""
    if (one.content, one.storage) != (content, storage) or one.sees != NOBODY:
        return False
    comes_back = one.state in LASTING and current(state, content, storage) is None and one.state != FOUND
    there = [x for x in state.objects if x.state in LASTING and x.bytes]
    return bool(one.bytes) and (one.state == PRESENT or comes_back) and is_decodable(one, decodable(there))


def commit_uploads(state: State, guards: Guards) -> Steps:
    """The transaction of an upload, after its bytes were stored, or seen."""
    for one in each(state.objects):
        if one.upload != NOBODY:
            yield from _commit_own(state, one, guards)
        if one.sees != NOBODY:
            yield from _commit_seen(state, one, guards)


def _commit_own(state: State, one: Object, guards: Guards) -> Steps:
    collection, idle = one.upload, one._replace(upload=NOBODY)
    if guards.follows_promotion and home(state, collection) != one.storage:
        yield from ((what, _again(after) if "deletes" in what else after) for what, after in _give_up(state, one))
        return
    if guards.keeps_its_row and (one.state != NONE or not one.bytes):
        yield f"an upload leaves to a sweep {name(one)}", put(state, (one, idle))
        return
    old = current(state, one.content, one.storage)
    there = decodable(x for x in state.objects if x.state == PRESENT and x.bytes)
    if old is not None and (one.storage, one.content) in there:  # another upload was faster
        yield from (
            (what, _acknowledge(after, one.content, collection, guards)) for what, after in _give_up(state, one)
        )
        return
    changes: list[tuple[Object | None, Object | None]] = []
    if one.state in {NONE, FOUND}:
        changes.append((one, idle._replace(state=PRESENT, is_kept=False)))
        if old is not None:
            changes.append((old, old._replace(state=SUPERSEDED, is_kept=keeps(state))))
    else:
        changes.append((one, idle))
    after = without_next(put(state, *changes), one.content, one.storage)
    after = _acknowledge(after, one.content, collection, guards)
    yield f"an upload commits {name(one)}", after


def _give_up(state: State, one: Object) -> Steps:
    """The upload does not need its bytes: it deletes them, or is killed before that."""
    if one.state == NONE:
        yield f"an upload deletes {name(one)}", put(state, (one, one._replace(upload=NOBODY, bytes=NONE)))
    yield f"an upload leaves {name(one)}", put(state, (one, one._replace(upload=NOBODY)))


def _commit_seen(state: State, one: Object, guards: Guards) -> Steps:
    collection, idle = one.sees, one._replace(sees=NOBODY)
    old = current(state, one.content, one.storage)
    comes_back = one.state in {LEAVING, SUPERSEDED} and old is None
    is_decoded = is_decodable(one, by_rows(state, LASTING))
    is_same = is_decoded and (one.state == PRESENT or comes_back) and home(state, collection) == one.storage
    if guards.looks_again and not is_same:
        yield f"an upload sees no more {name(one)}", _again(put(state, (one, idle)))
        return
    new = idle._replace(state=PRESENT, is_kept=False) if comes_back else idle
    yield f"an upload uses {name(one)}", _acknowledge(put(state, (one, new)), one.content, collection, guards)


def _again(state: State) -> State:
    """Let the upload begin again: it stores its content, or sees it elsewhere."""
    return state._replace(left=state.left._replace(uploads=state.left.uploads + 1))


def _acknowledge(state: State, content: int, collection: int, guards: Guards) -> State:
    """Add the version, and what its second copies want."""
    line = 0 if guards.listings_say_where else home(state, collection)
    reached = state.adopted & ~(0 if state.away is None else 1 << state.away)
    version = Version(content, collection, named=reached, line=line)
    return want_all(state._replace(versions=(*state.versions, version)), content)


def want_all(state: State, content: int) -> State:
    """Insert what the storages want that promise a content and have no object of it."""
    for storage in promised(state, content):
        if current(state, content, storage) is None and next_one(state, content, storage) is None:
            state = put(state, (None, Object(content, storage, state=WANTED)))
    return state
