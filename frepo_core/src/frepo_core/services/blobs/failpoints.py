"""Named points on the way of a write, at which a test can end the process as a power cut would."""

import os
import signal

POINTS = (
    "store",  # nothing is stored yet
    "stored",  # the bytes are in the backend, nobody looked at them
    "measured",  # the backend's account of them was read
    "attached",  # the blob's row is in the open transaction
    "evicted",  # the rows of what leaves are gone in it
    "written",  # all rows are in it, the COMMIT comes next
    "committed",  # the database has it, nothing else was done
    "replaced",  # damaged bytes were replaced, they are about to go
    "collect",  # bytes perhaps unused are looked at
    "uncollected",  # the row of unused bytes is gone, they are not
    "collected",  # their bytes are gone, too
)
ENVIRONMENT = "FREPO_FAIL_POINT"

_armed = os.environ.get(ENVIRONMENT, "")


def hit(point: str) -> None:
    """Do nothing, unless the environment names this point: then the process is killed here."""
    if point == _armed:
        os.kill(os.getpid(), signal.SIGKILL)
