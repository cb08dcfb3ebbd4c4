"""A lease in the database: a right that one process at a time holds, and loses if it does not renew it."""

import contextlib
import os
import socket
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from frepo_core.db import Database
from frepo_core.db.models import Lease as LeaseRow
from frepo_core.domain.structs import struct

LEADER = "worker"
_ROW = select(LeaseRow.holder, LeaseRow.epoch, LeaseRow.renewals, LeaseRow.expires_at).where(
    LeaseRow.name == bindparam("name")
)
_EPOCH = select(LeaseRow.epoch).where(LeaseRow.name == bindparam("name"))


@struct
class LeaseTerms:
    """How long a lease is valid, and the times that follow from that, in seconds.

    With 30 seconds, a holder that was killed is replaced after 33, and after 39 if the clock of the database was set
    back.
    """

    length: float = 30.0

    @property
    def renewal(self) -> float:
        """Return the seconds after which the holder renews the lease."""
        return self.length / 3

    @property
    def poll(self) -> float:
        """Return the seconds between two tries of a process that waits for the lease."""
        return self.length / 10

    @property
    def silence(self) -> float:
        """Return the seconds without a renewal after which the holder has lost the lease, whatever the clock says."""
        return self.length + self.renewal / 4


def make_holder() -> str:
    """Return a name for a holder that no other has: host, process, and a random part."""
    return f"{socket.gethostname()[:200]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


class Lease:
    """A named lease as one process sees it. One thread at a time may acquire, renew or release it.

    `epoch` is the number under which this process holds the lease, 0 if it does not. It rises with each new holder, so
    updates that name an old epoch can be refused. It skips a number if the row is older than this process has left it:
    the database was restored meanwhile, and what is known about the epoch before is not true there.
    """

    def __init__(
        self,
        database: Database,
        name: str,
        *,
        holder: str,
        terms: LeaseTerms,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.holder = holder
        self.terms = terms
        self.epoch = 0
        self._database = database
        self._monotonic = monotonic
        self._held_until = 0.0
        self._renewals = 0  # those of the row when this process last changed it, at least
        self._seen: tuple[int, int] | None = None
        self._seen_at = 0.0

    @property
    def is_held(self) -> bool:
        """Whether this process holds the lease for certain. False after its time is over, until it is renewed."""
        return self.epoch > 0 and self._monotonic() < self._held_until

    def try_acquire(self) -> bool:
        """Acquire the lease if it is free, or if its holder has not renewed it in time. Return whether it is held now.

        The time is that of the database's clock. As clocks are sometimes set, an expired lease is taken only if its row
        did not change for the time of a renewal, and a lease whose row did not change for longer than its length is
        taken whatever the clock says. Both need at least two calls; call it every few seconds.
        """
        asked = self._monotonic()
        row = self._row()
        now = self._database.now()
        seen = (row.epoch, row.renewals)
        if seen != self._seen:
            self._seen, self._seen_at = seen, asked
        is_free = row.holder is None or row.holder == self.holder  # or it could not be released
        if not is_free and not self._is_abandoned(asked - self._seen_at, is_expired=row.expires_at <= now):
            return False
        expires_at = now + timedelta(seconds=self.terms.length)
        epoch = row.epoch + (2 if row.renewals < self._renewals else 1)
        taken = self._database.execute(
            update(LeaseRow)
            .where(LeaseRow.name == self.name, LeaseRow.epoch == row.epoch, LeaseRow.renewals == row.renewals)
            .values(holder=self.holder, epoch=epoch, renewals=row.renewals + 1, expires_at=expires_at)
        )
        if taken:
            self.epoch, self._renewals = epoch, row.renewals + 1
            self._held_until = asked + self.terms.length
        return taken > 0

    def renew(self) -> bool:
        """Renew the lease; return False if it was lost to another holder, or by a restore. Then `epoch` is 0."""
        asked = self._monotonic()
        now = self._database.now()
        renewed = self._database.execute(
            update(LeaseRow)
            .where(LeaseRow.name == self.name, LeaseRow.epoch == self.epoch, LeaseRow.holder == self.holder)
            .where(LeaseRow.renewals >= self._renewals)
            .values(renewals=LeaseRow.renewals + 1, expires_at=now + timedelta(seconds=self.terms.length))
        )
        if renewed:
            self._renewals += 1
            self._held_until = asked + self.terms.length
        else:
            self.epoch = 0
        return renewed > 0

    def release(self) -> None:
        """Give the lease back, if it is still held, so that another holder need not wait for its end."""
        epoch, self.epoch = self.epoch, 0
        if epoch:
            self._database.execute(
                update(LeaseRow)
                .where(LeaseRow.name == self.name, LeaseRow.epoch == epoch, LeaseRow.holder == self.holder)
                .values(holder=None, renewals=LeaseRow.renewals + 1)
            )

    def find_epoch(self) -> int:
        """Return the epoch in the database, which is higher than `epoch` if another holder has the lease."""
        rows = self._database.fetch_rows(_EPOCH, name=self.name)
        return int(rows[0][0]) if rows else 0

    def _is_abandoned(self, unchanged: float, *, is_expired: bool) -> bool:
        """Return whether the holder must have stopped; `unchanged` is for how many seconds its row did not change."""
        return unchanged >= (self.terms.renewal if is_expired else self.terms.silence)

    def _row(self) -> Row[Any]:
        rows = self._database.fetch_rows(_ROW, name=self.name)
        if not rows:
            row = {"name": self.name, "epoch": 0, "renewals": 0, "expires_at": self._database.now()}
            with contextlib.suppress(IntegrityError):  # another process was faster
                self._database.execute(insert(LeaseRow).values(row))
            rows = self._database.fetch_rows(_ROW, name=self.name)
        return rows[0]
