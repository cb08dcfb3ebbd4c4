"""Observes whether a transaction was committed, as one of its data managers."""

from typing import Any, Self

import transaction
from transaction.interfaces import IDataManager
from zope.interface import implementer


@implementer(IDataManager)
class CommitWatch:
    """Records whether a transaction was committed, was rolled back, or has an unknown outcome.

    It votes before SQLAlchemy, whose vote sends the COMMIT. If the connection breaks after this vote and before the
    finish, the outcome is unknown, and nothing may be undone.
    """

    def __init__(self, manager: Any = None) -> None:
        self.transaction_manager = manager
        self.tried = False
        self.committed = False

    @property
    def outcome_is_unknown(self) -> bool:
        """Return whether the COMMIT was tried without a confirmation."""
        return self.tried and not self.committed

    def may_repeat(self) -> bool:
        """Return whether the transaction was certainly not committed."""
        return not self.tried

    def restart(self, manager: Any) -> Self:
        """Forget the attempt that was rolled back, and observe the next one."""
        self.transaction_manager = manager
        self.tried = self.committed = False
        return self

    def note_rollback(self) -> None:
        """Note that the COMMIT has certainly failed."""
        self.tried = False

    def sortKey(self) -> str:  # the interface's name
        """Return a key that sorts before `~sqlalchemy`."""
        return "frepo:watch"

    def abort(self, current: "transaction.Transaction") -> None:
        """Do nothing: without a vote the transaction is rolled back."""

    def tpc_begin(self, current: "transaction.Transaction") -> None:
        """Do nothing."""

    def commit(self, current: "transaction.Transaction") -> None:
        """Do nothing: there is nothing to write."""

    def tpc_vote(self, current: "transaction.Transaction") -> None:
        """Record that the COMMIT is next."""
        self.tried = True

    def tpc_finish(self, current: "transaction.Transaction") -> None:
        """Record that the COMMIT succeeded."""
        self.committed = True

    def tpc_abort(self, current: "transaction.Transaction") -> None:
        """Do nothing: after the vote, the outcome stays unknown."""
