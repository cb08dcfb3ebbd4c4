"""Which hosts have uploads, as each of them notes it: so the others know when one of them is gone for good."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from frepo_core.plugins import PluginContext, StoreConflictError, StoredValue

from .disk.place import Place

LOST = "uploads.host_lost"
# A host that is gone is remembered so long.
REMEMBER = timedelta(days=30)
_PREFIX = "host/"


@dataclass(frozen=True, kw_only=True)
class Host:
    """What a host with the tag `tag` has noted at `seen_at` (UTC, aware).

    `place` is the id of its folder, `uploads` how many were open. `is_reported`: there is an event about its loss.
    """

    tag: str
    place: str
    seen_at: datetime
    uploads: int
    is_reported: bool
    version: int

    @classmethod
    def of(cls, stored: StoredValue) -> "Host":
        """Make it of what the database has."""
        seen_at = datetime.fromisoformat(stored.value["seen_at"])
        values = {**stored.value, "seen_at": seen_at, "version": stored.version}
        return cls(tag=stored.key.removeprefix(_PREFIX), **values)

    def value(self) -> dict[str, Any]:
        """Return what the database keeps under its tag."""
        return {
            "place": self.place,
            "seen_at": self.seen_at.isoformat(),
            "uploads": self.uploads,
            "is_reported": self.is_reported,
        }


class Hosts:
    """The hosts of one database. `expire` is the setting `uploads.expire`."""

    def __init__(self, context: PluginContext, place: Place, expire: timedelta) -> None:
        self._context = context
        self._place = place
        self._expire = expire

    def note(self, uploads: int, moment: datetime) -> None:
        """Note that this host is there at a time in UTC, and how many open uploads it has."""
        own = Host(
            tag=self._place.tag, place=self._place.id, seen_at=moment, uploads=uploads, is_reported=False, version=0
        )
        self._store.put(_PREFIX + own.tag, own.value())

    def note_none(self, moment: datetime) -> None:
        """Note that this host has no uploads any more, once."""
        stored = self._store.get(_PREFIX + self._place.tag)
        if stored is not None and Host.of(stored).uploads:
            self.note(0, moment)

    def find_other(self, tag: str) -> Host | None:
        """Return the host with a tag; None if it is unknown, or if its folder is that of this host."""
        if not tag or tag == self._place.tag:
            return None
        stored = self._store.get(_PREFIX + tag)
        host = None if stored is None else Host.of(stored)
        return None if host is None or host.place == self._place.id else host

    def is_gone(self, host: Host, moment: datetime) -> bool:
        """Return whether no host that has its folder was there since `uploads.expire` before a time in UTC."""
        if self._is_there(host, moment):
            return False
        return not any(other.place == host.place and self._is_there(other, moment) for other in self._all())

    def report_lost(self, moment: datetime) -> int:
        """Record an event about each host that is gone and had uploads; return how many. Forget those long gone."""
        count = 0
        for host in list(self._all()):
            try:
                if moment - host.seen_at > self._expire + REMEMBER:
                    self._store.delete(_PREFIX + host.tag, if_version=host.version)
                elif host.uploads and not host.is_reported and self.is_gone(host, moment):
                    self._report(host)
                    count += 1
            except StoreConflictError:  # it is there again
                continue
        return count

    def _report(self, host: Host) -> None:
        message = f"The host {host.tag!r} was last there at {host.seen_at:%Y-%m-%d %H:%M} UTC"
        self._context.log.error("%s: its %d open uploads in parts are lost", message, host.uploads)
        data = {"host": host.tag, "uploads": host.uploads, "message": message}

        def work(transaction: Any) -> None:
            transaction.put(_PREFIX + host.tag, {**host.value(), "is_reported": True}, if_version=host.version)
            transaction.record_event(LOST, data=data)

        self._store.transaction(work)

    def _is_there(self, host: Host, moment: datetime) -> bool:
        return moment - host.seen_at <= self._expire

    def _all(self) -> Iterator[Host]:
        after = None
        while page := self._store.items(_PREFIX, after=after):
            yield from map(Host.of, page)
            after = page[-1].key

    @property
    def _store(self) -> Any:
        return self._context.service.store
