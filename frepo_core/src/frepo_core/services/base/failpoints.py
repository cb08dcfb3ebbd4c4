"""Named steps of a write at which a test can kill the process, as a power failure would."""

import os
import signal

POINTS = (
    "store",  # nothing is stored yet
    "stored",  # the bytes are in the backend, their size is not checked yet
    "size_checked",
    "blob_row_written",  # in the open transaction
    "versions_deleted",  # the evicted versions' rows, in the open transaction
    "rows_written",  # all rows are written, the COMMIT is next
    "committed",  # unused blobs still exist
    "damaged_replaced",  # the new bytes are current, the damaged ones still exist
    "collect",  # before a blob is checked for use
    "object_doomed",  # the bytes of the object that nothing needs still exist
    "object_deleted",  # its row still exists
    "collected",
)
SWEEP_POINTS = (
    "mark_recorded",  # the database knows the owner's mark with the next epoch, the storage does not have it yet
    "mark_stored",  # the storage has it
    "mark_current",  # the database knows that, the older mark still exists
    "old_mark_deleted",
)
PROMOTION_POINTS = ("promoted",)
MIRROR_POINTS = (
    "copies_claimed",  # the copies have their keys, no byte is stored yet
    "copy_stored",
    "copy_read_back",  # the copy is sound, its row does not say so yet
    "copies_recorded",
    "copies_gone",  # the rows say so, the bytes still exist
    "first_repaired",  # the new bytes are current, the damaged ones still exist
)
JOURNAL_POINTS = (
    "journal_stored",  # the storage has the part or the catalogue, the database does not know it yet
    "journal_noted",
    "catalogue_noted",
)
COMPACT_POINTS = (
    "object_stored",  # the encoded object is in the backend, it was not read back yet
    "object_read_back",
    "blob_switched",  # the new object is the current one, the old one is superseded
)
ENVIRONMENT = "FREPO_FAIL_POINT"

_armed = os.environ.get(ENVIRONMENT, "")


def hit(point: str) -> None:
    """Kill the process if the environment variable names this point; do nothing otherwise."""
    if point == _armed:
        os.kill(os.getpid(), signal.SIGKILL)
