"""Deliberate faults: each turns one guard off, in a world in which the walk must find what that breaks."""

from typing import NamedTuple

from .properties import COPIED_TWICE, LEFT_OVER, LOST, UNREADABLE, UNRECOVERABLE, UNTRUE
from .walk import World
from .worlds import world


class Fault(NamedTuple):
    """A guard that is turned off, what is broken then, and where that is found."""

    guard: str
    breaks: str
    world: World


# What was lost or said wrongly before there was one record of objects and one gate for deletions.
SEEN = {
    "two versions of a content, promotion, and the recovery stops": Fault(
        "listings_say_where", UNRECOVERABLE, world(uploads=2, promotions=1)
    ),
    "a recovery takes a stale object whose base is gone": Fault(
        "prefers_bases_that_exist",
        UNRECOVERABLE,
        world(contents=2, mirrored=False, uploads=2, encodings=2, deletions=1),
    ),
    "a recovery takes two contents that need each other": Fault(
        "uses_the_fixed_point", UNRECOVERABLE, world(contents=2, mirrored=False, uploads=2, encodings=2)
    ),
    "the sound old object is deleted before the new one was read": Fault(
        "counts_only_what_was_read", LOST, world(contents=2, mirrored=False, uploads=2, encodings=1, flips=1)
    ),
    "a moved collection, and a database of the last night": Fault(
        "waits_two_days", UNREADABLE, world(storages=3, uploads=1, moves=1, backups=1, restores=1)
    ),
    "a restored database deletes what it does not know": Fault(
        "waits_for_reconcile", LOST, world(mirrored=False, uploads=2, deletions=1, backups=1, restores=1)
    ),
    "after a promotion, the old copies are no fallback": Fault(
        "promotion_changes_no_object", UNREADABLE, world(uploads=1, promotions=1)
    ),
    "directly after a recovery, each content is said to have its copies": Fault(
        "counts_copies", UNTRUE, world(uploads=1, recoveries=1)
    ),
    "a move makes all second copies again": Fault(
        "move_changes_no_object", COPIED_TWICE, world(storages=3, uploads=1, moves=1)
    ),
    "a deletion overlooks objects that need the deleted one": Fault(
        "keeps_what_others_need", LOST, world(contents=2, uploads=2, encodings=1, deletions=1)
    ),
    "a storage in which a recovery placed nothing gets no journal": Fault(
        "adopts_all", LEFT_OVER, world(uploads=2, recoveries=1)
    ),
    "what is in another storage is said to be missing": Fault(
        "says_missing_of_all", UNTRUE, world(uploads=1, backups=1, restores=1)
    ),
    "a sweep and a merge race for the same bytes": Fault(
        "registers_before_deleting", LOST, world(uploads=1, backups=1, restores=1)
    ),
}

# The other guards of the design.
OTHERS = {
    "a content in use is deleted": Fault("keeps_what_is_promised", LOST, world(uploads=2, flips=1)),
    "two deletions rely on each other": Fault(
        "locks_what_it_relies_on", LOST, world(contents=2, mirrored=False, uploads=2, encodings=3, deletions=1)
    ),
    "a deletion that was given up is repeated": Fault(
        "doomed_is_final", LOST, world(uploads=2, deletions=1, refusals=1)
    ),
    "an upload relies on what it saw": Fault("looks_again", LOST, world(uploads=2, deletions=1)),
    "an upload ends in the former first storage": Fault("follows_promotion", LOST, world(uploads=1, promotions=1)),
    "an upload relies on its own bytes": Fault("keeps_its_row", LOST, world(uploads=1)),
    "two differences become the current ones of each other": Fault(
        "refuses_circles", UNREADABLE, world(contents=2, mirrored=False, uploads=2, encodings=2)
    ),
    "a copy counts that nobody has read back": Fault("reads_back", UNTRUE, world(uploads=1, flips=1)),
}
