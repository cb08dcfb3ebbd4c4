"""Failures at a chosen call of the database, and whether an action reported them."""

from frepo_core.errors import FrepoError


class FaultInjection:
    """Calls `do` at the k-th statement or COMMIT, once it is `armed`."""

    def __init__(self, do, only=""):
        self.do, self.only, self.k, self.seen = do, only, 0, 0

    def __call__(self, what, connection):
        if self.k and what.startswith(self.only):
            self.seen += 1
            if self.seen == self.k:
                self.do(connection)

    def arm(self, k):
        self.k, self.seen = k, 0

    @property
    def happened(self):
        return self.seen >= self.k


def fails(call):
    try:
        call()
    except (FrepoError, RuntimeError):
        return True
    return False
