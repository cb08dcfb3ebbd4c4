"""Decides about versions before their contents are complete, for plug-ins that receive contents by themselves."""

from frepo_core.domain.identity import Identity
from frepo_core.domain.structs import struct

from ...base.records import CollectionRecord
from ...content.ingest import smallest_limit
from ...content.mime_detection import detect_type
from ...content.token_limits import check_type_of_version
from ...events.refusals import Refusals
from ..trash.arrivals import Arrivals
from .add_version import AddVersion


@struct
class Allowance:
    """The largest content in bytes, None without a limit, and the room in the storage, None if that is unknown."""

    max_size: int | None
    room: int | None


class AnnouncedVersions:
    """Refuses what would be refused later."""

    def __init__(self, add_version: AddVersion, refusals: Refusals, arrivals: Arrivals) -> None:
        self._add_version = add_version
        self._refusals = refusals
        self._arrivals = arrivals

    def check(self, collection: CollectionRecord, *, by: Identity, size: int | None, head: bytes) -> Allowance:
        """Raise what refuses a content of `size` bytes (None: unknown) that begins with `head`, if that has arrived.

        Raises as `AddVersion.check_policies` and `refuse_early`, the errors of limits, `TypeNotAllowedError` and
        `StorageFull`.
        """
        limits = self._add_version.limits(collection, by=by)
        with self._refusals.recorded(collection, by=by, size=size):
            for limit in limits:
                limit.enforce(size or 0)
            if head:
                check_type_of_version(by, detect_type(head))
            self._add_version.check_policies(collection, size, by=by)
            self._add_version.rules.refuse_early(collection, size or 0, after=None)
            self._arrivals.require_possible(collection, size or 0)
        return Allowance(max_size=smallest_limit(limits), room=self._arrivals.spare(collection))
