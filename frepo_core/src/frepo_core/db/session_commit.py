"""Commits or rolls back a session with the transaction it belongs to.

`zope.sqlalchemy` offers this, too, but imports every installed database driver: 20 MiB of memory, and a tenth of a start.
"""

from typing import Any

import transaction
from sqlalchemy.orm import Session
from transaction.interfaces import IDataManager
from zope.interface import implementer


@implementer(IDataManager)
class SessionCommit:
    """Ends a session with its transaction. It votes last, because its vote sends the COMMIT."""

    def __init__(self, manager: Any, session: Session) -> None:
        self.transaction_manager = manager
        self._session = session

    def sortKey(self) -> str:  # the interface's name
        """Return a key that sorts after all others."""
        return "~session"

    def abort(self, current: "transaction.Transaction") -> None:
        """Roll back."""
        self._session.close()

    def tpc_begin(self, current: "transaction.Transaction") -> None:
        """Send the statements that wait. If one fails, no COMMIT was tried."""
        self._session.flush()

    def commit(self, current: "transaction.Transaction") -> None:
        """Do nothing: the statements were sent."""

    def tpc_vote(self, current: "transaction.Transaction") -> None:
        """Send the COMMIT."""
        self._session.commit()
        self._session.close()

    def tpc_finish(self, current: "transaction.Transaction") -> None:
        """Do nothing: the vote has committed."""

    def tpc_abort(self, current: "transaction.Transaction") -> None:
        """Roll back, unless the vote has committed."""
        self._session.close()
