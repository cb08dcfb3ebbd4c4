"""The states of an object, and what it was made for."""

from enum import StrEnum


class ObjectState(StrEnum):
    """What is known about an object. The value is that of the column.

    `wanted`: a job makes it; `writing`: a job has given it a key. It is `present` only after it was stored, and, by a
    job, read back. `superseded`: another object of the content has taken its place. `leaving`: nothing uses the content
    in this storage. `found`: a storage has it, and no record did. `doomed` is final: its bytes are deleted, and then it
    is `gone`.
    """

    WANTED = "wanted"
    WRITING = "writing"
    PRESENT = "present"
    DAMAGED = "damaged"
    MISSING = "missing"
    SUPERSEDED = "superseded"
    LEAVING = "leaving"
    FOUND = "found"
    DOOMED = "doomed"
    GONE = "gone"


# Jobs store the bytes of these again, if another object of the content has them.
LACKING = (ObjectState.WANTED, ObjectState.WRITING, ObjectState.MISSING, ObjectState.DAMAGED)
# What can be decoded is computed with these.
SOUND = (ObjectState.PRESENT, ObjectState.SUPERSEDED, ObjectState.LEAVING)
# They are read in this order. What is in doubt comes last.
READABLE = (*SOUND, ObjectState.FOUND, ObjectState.DAMAGED, ObjectState.MISSING)
# No bytes can be expected, or they are being deleted.
ENDED = (ObjectState.DOOMED, ObjectState.GONE)

CURRENT = 1
FIRST, COPY = "first", "copy"
RAW, DELTA = "raw", "delta"
# Of an object that was found, before its head was read.
UNKNOWN = "unknown"
