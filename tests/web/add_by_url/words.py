"""What the tests of add-by-url look for: the time that a fetch may take, and the numbers of its refusals."""

SECONDS = 1.0
REFUSED, REMOTE_STATUS, FAILED = 60005, 60004, 60006
