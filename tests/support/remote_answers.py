"""For the tests of add-by-url: a time limit, the numbers of refusals, and what a fetch may leave behind."""

import os
import threading

from frepo_core.domain.identity import Identity

SECONDS = 1.0  # for fetches that have to be given up, and no others: a busy machine needs it for one that succeeds
REFUSED, REMOTE_STATUS, FAILED = 60005, 60004, 60006
SOMEBODY = Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset())


def threads_and_descriptors() -> tuple[int, int]:
    """Count the threads and the open files of this process."""
    return threading.active_count(), len(os.listdir("/proc/self/fd"))
