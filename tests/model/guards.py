"""The guards of the design, each a switch: with one turned off, a walk must find the story that loses something."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Guards:
    """All are on in the design. The comment says what goes wrong without the guard."""

    # The gate of deletions
    keeps_what_others_need: bool = True  # the base of another object, of whatever state, is deleted
    keeps_what_is_promised: bool = True  # a content in use is deleted
    counts_only_what_was_read: bool = True  # the sound old object is deleted, the new one turns out to be wrong
    locks_what_it_relies_on: bool = True  # two deletions at once rely on what the other one deletes
    waits_two_days: bool = True  # a database of the last night names what is gone
    waits_for_reconcile: bool = True  # a restored database deletes what it does not know
    doomed_is_final: bool = True  # a deletion that was refused, and given up, is repeated by a process that was slow
    # Uploads
    looks_again: bool = True  # an upload relies on an object that was doomed since it was seen
    follows_promotion: bool = True  # an upload is acknowledged in the storage that was the first one
    keeps_its_row: bool = True  # an upload relies on its own bytes, which a sweep has doomed meanwhile
    # Writing objects
    refuses_circles: bool = True  # two differences need each other
    reads_back: bool = True  # wrong bytes of the source become another copy that counts
    # Promotion and move
    promotion_changes_no_object: bool = True  # what is in the former first storage is not read any more
    move_changes_no_object: bool = True  # all second copies are made again
    # Recovery, merge and sweep
    listings_say_where: bool = True  # lines of the journal about one content differ, and the recovery stops
    prefers_bases_that_exist: bool = True  # a stale difference is taken, its base is gone
    uses_the_fixed_point: bool = True  # two differences that need each other are taken
    registers_before_deleting: bool = True  # a sweep deletes what a merge has taken since
    adopts_all: bool = True  # a storage in which nothing was placed gets no journal any more
    says_missing_of_all: bool = True  # what is in another storage is said to be missing
    counts_copies: bool = True  # nothing is wanted yet, so all seem to have their copies


DESIGN = Guards()
