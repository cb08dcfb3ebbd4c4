"""Values for the tests of add-by-url: the time limit of a fetch, and the numbers of its refusals."""

from frepo_core.domain.identity import Identity

SECONDS = 1.0
REFUSED, REMOTE_STATUS, FAILED = 60005, 60004, 60006
SOMEBODY = Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset())
