"""Learns how a commit ended, as a data manager of the transaction."""

from typing import Any, Self

import transaction
from transaction.interfaces import IDataManager
from zope.interface import implementer


@implementer(IDataManager)
class CommitWatch:
    """Knows whether a transaction was committed, was not, or may have been.

    Its vote comes before SQLAlchemy's, in which the COMMIT happens: after the vote and before the end
    a broken connection leaves the outcome unknown, and then nothing may be undone.
    """

    def __init__(self, manager: Any = None) -> None:
        self.transaction_manager = manager
        self.tried = False
        self.committed = False

    @property
    def outcome_is_unknown(self) -> bool:
        """Tell whether the COMMIT was sent without an answer."""
        return self.tried and not self.committed

    def restart(self, manager: Any) -> Self:
        """Forget an attempt that was rolled back, and watch the next."""
        self.transaction_manager = manager
        self.tried = self.committed = False
        return self

    def note_rollback(self) -> None:
        """Note that the COMMIT has certainly failed."""
        self.tried = False

    def sortKey(self) -> str:  # the interface's name
        """Come before `~sqlalchemy`."""
        return "frepo:watch"

    def abort(self, current: "transaction.Transaction") -> None:
        """Note nothing: before the vote there is nothing to know."""

    def tpc_begin(self, current: "transaction.Transaction") -> None:
        """Begin the two phases."""

    def commit(self, current: "transaction.Transaction") -> None:
        """Have nothing to write."""

    def tpc_vote(self, current: "transaction.Transaction") -> None:
        """Note that the COMMIT comes next."""
        self.tried = True

    def tpc_finish(self, current: "transaction.Transaction") -> None:
        """Note that it was done."""
        self.committed = True

    def tpc_abort(self, current: "transaction.Transaction") -> None:
        """Leave the outcome as it is: unknown after the vote."""
