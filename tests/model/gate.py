"""The gate through which every deletion goes, and the deletion behind it."""

from collections.abc import Iterator
from itertools import combinations

from .guards import Guards
from .state import (
    DOOMED,
    FOUND,
    LASTING,
    LEAVING,
    NONE,
    SOUND,
    SUPERSEDED,
    THERE,
    Object,
    State,
    by_rows,
    decodable,
    each,
    is_decodable,
    name,
    promised,
    put,
    spend,
)

Steps = Iterator[tuple[str, State]]


def doom(state: State, guards: Guards) -> Steps:
    """The gate through which every deletion goes."""
    ending = [one for one in each(state.objects) if one.state in {SUPERSEDED, LEAVING, FOUND}]
    allowed = [one for one in ending if may_be_doomed(state, one, guards)]
    for one in allowed:
        yield f"{name(one)} is doomed", put(state, (one, _doomed(one)))
    if not guards.locks_what_it_relies_on:  # both transactions see what was before
        for one, other in combinations(allowed, 2):
            yield f"{name(one)} and {name(other)} are doomed", put(state, (one, _doomed(one)), (other, _doomed(other)))


def _doomed(one: Object) -> Object:
    return one._replace(state=DOOMED, is_kept=False, is_aimed=True)


def may_be_doomed(state: State, one: Object, guards: Guards) -> bool:
    """Return whether nothing and nobody needs an object."""
    if guards.waits_for_reconcile and state.frozen:
        return False
    if guards.waits_two_days and one.is_kept:
        return False
    here = [x for x in state.objects if x.storage == one.storage and x.state in LASTING]
    here.remove(one)
    if guards.keeps_what_others_need:
        before = decodable([*here, one])
        after = decodable(x for x in here if x.bytes == SOUND or not guards.counts_only_what_was_read)
        if any(is_decodable(x, before) and not is_decodable(x, after) for x in here):
            return False
    storages = promised(state, one.content)
    if not storages or not guards.keeps_what_is_promised:
        return True
    sound = by_rows(state, THERE, read=guards.counts_only_what_was_read)
    return (one.storage, one.content) in sound or all((other, one.content) in sound for other in storages)


def delete(state: State, guards: Guards) -> Steps:
    """The bytes of what is doomed are deleted, and its row. The storage may refuse that, because they are locked."""
    for one in each(state.objects):
        if not one.is_aimed or one.storage == state.away:
            continue
        gone = one._replace(bytes=NONE, state=NONE if one.state == DOOMED else one.state, is_aimed=False)
        yield f"{name(one)} is deleted", put(state, (one, gone))
        if state.left.refusals and one.state == DOOMED:
            given_up = one if guards.doomed_is_final else one._replace(state=SUPERSEDED)
            yield f"the storage refuses to delete {name(one)}", spend(put(state, (one, given_up)), "refusals")
