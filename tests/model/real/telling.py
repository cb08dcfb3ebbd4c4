"""What the model and the services say in the same words: which objects there are, and in which states."""

from collections import Counter
from typing import NamedTuple

from model.state import (
    DAMAGED,
    DOOMED,
    LEAVING,
    MISSING,
    NONE,
    PRESENT,
    SUPERSEDED,
    WANTED,
    State,
    used,
)


class Thing(NamedTuple):
    """An object that has bytes, as both sides tell it."""

    content: int
    storage: int
    base: int
    bytes: str
    state: str


class NotDoneError(Exception):
    """The service does not do what the model does in this state."""


class NotDrivenError(Exception):
    """The service does this step, or in this order, only within another one. Nothing was done."""


def things(state: State) -> Counter[Thing]:
    """Return the objects of a state of the model that have bytes."""
    in_use = used(state)
    return Counter(
        Thing(one.content, one.storage, one.base, one.bytes, told(one.state, is_used=one.content in in_use))
        for one in state.objects
        if one.bytes
    )


def told(state: str, *, is_used: bool) -> str:
    """Return a state as both sides tell it.

    The service makes some changes at once that are several steps of the model, and the other way round: what nothing
    uses ends, a damaged object gives up its place, a copy that is leaving comes back, a failed copy is doomed.
    """
    if not is_used and state != NONE:
        return "ending"
    if state in {DAMAGED, MISSING, SUPERSEDED}:
        return "old"
    return {LEAVING: PRESENT, WANTED: DOOMED}.get(state, state)
