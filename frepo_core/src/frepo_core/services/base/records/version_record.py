"""The record of a version."""

from collections.abc import Mapping
from dataclasses import field, fields
from datetime import datetime

from frepo_core.db.models import Version
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.structs import struct

from .file_records import FileRecord


@struct
class VersionRecord:
    """One version and its file.

    A pin ends at `pinned_until`; None: when somebody unpins it. `is_suspicious` says that it violates a guard and was
    kept, or is in quarantine since `quarantined_at` (UTC, aware). A restored one is not evicted before
    `protected_until`, a locked one not removed before `locked_until`. `verdict` is what is known about it. Rotation
    waits for it while `pending_since` is set; it was accepted and found broken at `condemned_at`; `released_by` has
    released it. `labels` are names with values that a plug-in has given it.
    """

    id: str
    collection_id: str
    number: int
    created_at: datetime
    file: FileRecord
    is_suspicious: bool = False
    pinned: bool = False
    pinned_until: datetime | None = None
    pin_reason: str = ""
    quarantined_at: datetime | None = None
    quarantine_reason: str | None = None
    note: str = ""
    protected_until: datetime | None = None
    locked_until: datetime | None = None
    verdict: Verdict = Verdict.UNCHECKED
    verdict_reason: str | None = None
    pending_since: datetime | None = None
    condemned_at: datetime | None = None
    released_at: datetime | None = None
    released_by: str | None = None
    labels: Mapping[str, str] | None = field(default=None, hash=False)

    @property
    def is_quarantined(self) -> bool:
        """Whether the version is in quarantine: limits, counters and strategies do not count it."""
        return self.quarantined_at is not None

    @classmethod
    def of(cls, row: Version, file: FileRecord | None = None) -> "VersionRecord":
        """Make a record of a row; `file` is given where it was read already."""
        return cls(
            **{name: getattr(row, name) for name in _OF_VERSION},
            file=file or FileRecord.of(row.file),
            is_suspicious=bool(row.is_suspicious),
            pinned=bool(row.pinned),
            pin_reason=row.pin_reason or "",
            note=row.note or "",
            verdict=Verdict(row.verdict),
        )


_CONVERTED = {"file", "is_suspicious", "pinned", "pin_reason", "note", "verdict"}
_OF_VERSION = [each.name for each in fields(VersionRecord) if each.name not in _CONVERTED]
