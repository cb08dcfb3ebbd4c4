"""Observes whether a transaction was committed."""


class CommitWatch:
    """Records whether a transaction was committed, was rolled back, or has an unknown outcome.

    `tried` is set just before the COMMIT, and `committed` after it. If the connection breaks in between, the outcome is
    unknown, and nothing may be undone.
    """

    def __init__(self) -> None:
        self.tried = False
        self.committed = False

    @property
    def outcome_is_unknown(self) -> bool:
        """Return whether the COMMIT was tried without a confirmation."""
        return self.tried and not self.committed

    def may_repeat(self) -> bool:
        """Return whether the transaction was certainly not committed."""
        return not self.tried

    def restart(self) -> None:
        """Forget the attempt that was rolled back, and observe the next one."""
        self.tried = self.committed = False

    def note_rollback(self) -> None:
        """Note that the COMMIT has certainly failed."""
        self.tried = False
