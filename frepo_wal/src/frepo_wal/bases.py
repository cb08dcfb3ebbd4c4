"""The base backups of an archive, and what each needs. Each is read once, by the job."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from frepo_core.plugins import FrepoError, PluginContext, Service, StoredVersion, TrashedVersion

from .base_content import DamagedBaseError, NoBaseError, read_base
from .manifest import find_difference


@dataclass(frozen=True, kw_only=True)
class Base:
    """A base backup: the WAL from `start` to `stop` on its timeline makes it consistent. Places are in bytes.

    `number` is that of its version, `at` when it arrived. `is_usable` is false if something is known against it, or if
    it is in the trash.
    """

    number: int
    timeline: int
    start: int
    stop: int
    system: int
    at: datetime
    is_usable: bool = True


class Bases:
    """The base backups in a collection. What each needs is kept under its digest, also while it is in the trash."""

    def __init__(self, context: PluginContext, collection_id: str, *, may_read: bool) -> None:
        self._service = context.service
        self._log = context.log
        self._collection = collection_id
        self._may_read = may_read
        # How many versions there are of which nobody knows what they need, and what is wrong with others.
        self.unknown = 0
        self.wrong: list[str] = []

    def all(self) -> list[Base]:
        """Return all base backups, with those in the trash, the newest first. Raises `NotFoundError`."""
        found = [self._live(one) for one in self._pages(self._service.versions)]
        found += [self._trashed(one) for one in self._pages(self._service.trash)]
        return sorted((one for one in found if one), key=lambda one: (one.at, one.number), reverse=True)

    def _pages(self, read: Any) -> Iterator[Any]:
        after = None
        while True:
            page = read(self._collection, after=after, limit=1000)
            yield from page.items
            if (after := page.next) is None:
                return

    def _live(self, version: StoredVersion) -> Base | None:
        values = self._known(version.sha256)
        if values is None and self._may_read:
            values = self._read(version)
        if values and values["wrong"]:
            self.wrong.append(f"version {version.number} cannot be used: {values['wrong']}")
        usable = not (version.quarantined or version.damaged or version.verdict in {"broken", "suspicious"})
        return self._base(version, values, is_usable=usable)

    def _trashed(self, version: TrashedVersion) -> Base | None:
        return self._base(version, self._known(version.sha256), is_usable=False)

    def _base(self, version: StoredVersion | TrashedVersion, values: Any, *, is_usable: bool) -> Base | None:
        if values is None:
            self.unknown += 1
            return None
        if "start" not in values:  # it is no base backup, and needs nothing
            return None
        places = {name: values[name] for name in ("timeline", "start", "stop", "system")}
        is_usable = is_usable and not values["wrong"]
        return Base(number=version.number, at=version.created_at, is_usable=is_usable, **places)

    def _known(self, sha256: str) -> Any:
        found = self._service.store.get(f"base/{sha256}")
        return None if found is None else found.value

    def _read(self, version: StoredVersion) -> Any:
        """Compare a version with its manifest. Return what it needs, and what is wrong, None if it cannot be read."""
        try:
            with self._service.open_version(self._collection, version.number) as content:
                return examine(self._service, version.sha256, content)
        except FrepoError as error:
            self._log.warning("Version %s of %s cannot be read: %s", version.number, version.name, error)
            return None


def examine(service: Service, sha256: str, content: BinaryIO) -> dict[str, Any]:
    """Compare a content with its manifest, and keep under its digest what was found.

    Return what it needs, and what is `wrong`: an empty text if nothing is. `damaged` says that it differs from its
    manifest: otherwise it is of another kind, or made without one. Raises what reading the content raises.
    """
    try:
        found = read_base(content)
        wrong = find_difference(found)
        values = {**found.values, "wrong": wrong, "damaged": bool(wrong)}
    except NoBaseError as error:
        values = {"wrong": str(error), "damaged": isinstance(error, DamagedBaseError)}
    service.store.put(f"base/{sha256}", values)
    return values
