"""The states of a second copy."""

from enum import StrEnum


class CopyState(StrEnum):
    """What is known about a second copy. The value is that of the column.

    A copy is `present` only after it was read back. `leaving`: its blob was deleted, and the copy stays for a while.
    """

    WANTED = "wanted"
    PRESENT = "present"
    DAMAGED = "damaged"
    MISSING = "missing"
    LEAVING = "leaving"
    GONE = "gone"


# The job `mirror` stores the bytes of these.
LACKING = (CopyState.WANTED, CopyState.MISSING, CopyState.DAMAGED)
# Bytes may exist under the keys of these.
WITH_BYTES = (CopyState.PRESENT, CopyState.DAMAGED, CopyState.MISSING, CopyState.LEAVING)
