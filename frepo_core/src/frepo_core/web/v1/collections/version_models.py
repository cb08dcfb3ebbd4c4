"""The models of versions, of their checks and of links to them."""

import re
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from frepo_core.domain.backups.guards import ReasonName, name_reason
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.signatures import LINK_SECONDS
from frepo_core.services.backups.versions.client_checks import RESTORE_OF_CLIENT
from frepo_core.services.backups.versions.version_checks import CheckRecord, DetailedCheck, Outcome
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.base.records import VersionRecord
from frepo_core.services.base.records.file_records import CopyCount

from ...conventions.entity_tags import entity_tag
from ...conventions.merge_patch import Patch, unset
from ...conventions.paging import PageQuery, PageReply
from ...conventions.types import DURATION, Duration, End, Time, Whole
from ...schemas import json_schemas
from ...schemas.models import CopyCounts, Flag, Form, Reply


class Version(Reply):
    """A version. The size is in bytes. `file_name` is the name under which `/files` and links know its content.

    A `pinned` version is not deleted. The pin ends at `pinned_until`, null: when somebody unpins it; `pin_reason` says
    why it is there. A `suspicious` one violates a guard. One in quarantine is downloaded by its
    number only, and limits do not count it; `quarantine_reason` is the code name of the guard, `check` and the name of
    the upload check, or `overtaken` if newer versions of the same client arrived before it; `reason` is its short name.
    A version that was restored from the trash is not evicted before `protected_until`. Nobody can remove a locked one
    before `locked_until`.

    `copies` is how many sound copies the content has and should have, null if it has one only and shall have no other.

    `verdict` is what is known about the version, and `verdict_reason` why. While `pending`, a check that could condemn
    it has not ended: limits do not count it, and nothing is evicted for it. A check of the service found it broken
    after it had been accepted at `condemned_at`: then it is neither `latest` nor `first`. `released_by` is the
    fingerprint of the token, or `console:` and a user, that released it at `released_at`. `released_by_name` is the
    name of that token, null if it has none, was revoked, or is not for the token of the request to see. `labels` are
    names with values that a plug-in has given it.
    """

    id: str
    number: int
    created_at: Time
    size: Whole
    sha256: str = Field(pattern=json_schemas.SHA256)
    mime_type: str
    file_name: str
    suspicious: bool
    pinned: bool
    pinned_until: Time | None
    pin_reason: str
    quarantined: bool
    quarantined_at: Time | None
    quarantine_reason: str | None
    reason: ReasonName | None
    note: str
    labels: dict[str, str] = Field(examples=[{"segment": "000000010000000A000000FE"}])
    damaged: bool
    copies: CopyCounts | None
    password_protected: bool
    protected_until: Time | None
    locked_until: Time | None
    verdict: Verdict
    verdict_reason: str | None
    pending: bool
    condemned_at: Time | None
    released_at: Time | None
    released_by: str | None
    released_by_name: str | None

    @classmethod
    def of(
        cls,
        record: VersionRecord,
        names: Mapping[str, str] = MappingProxyType({}),
        counts: Mapping[int, CopyCount] = MappingProxyType({}),
    ) -> "Version":
        """Convert a version. New columns of versions are added here.

        `names` are those of tokens by fingerprint, `counts` how many copies blobs have, by their ids.
        """
        blob = record.file.blob
        return cls(
            id=record.id,
            number=record.number,
            created_at=record.created_at,
            size=blob.size,
            sha256=blob.digest,
            mime_type=blob.mime,
            file_name=record.file.stored_name,
            suspicious=record.is_suspicious,
            pinned=record.pinned,
            pinned_until=record.pinned_until,
            pin_reason=record.pin_reason,
            quarantined=record.is_quarantined,
            quarantined_at=record.quarantined_at,
            quarantine_reason=record.quarantine_reason,
            reason=name_reason(record.quarantine_reason),
            note=record.note,
            labels=dict(record.labels or {}),
            damaged=blob.is_damaged,
            copies=CopyCounts.of(blob, counts),
            password_protected=record.file.password_hash is not None,
            protected_until=record.protected_until,
            locked_until=record.locked_until,
            verdict=record.verdict,
            verdict_reason=record.verdict_reason,
            pending=record.pending_since is not None,
            condemned_at=record.condemned_at,
            released_at=record.released_at,
            released_by=record.released_by,
            released_by_name=names.get(record.released_by or ""),
        )


class SameContent(Reply):
    """The newest version of another collection with the same content."""

    collection: str
    name: str
    number: int
    at: Time


class ShownVersion(Version):
    """A version, and the other collections that got the same content at most a day before or after it.

    `same_content_in` names only collections whose versions the token may list, at most 20, and is empty for contents of
    64 KiB or less. It is no verdict: the servers of a fleet may have equal files.
    """

    same_content_in: list[SameContent]


class VersionPatch(Patch):
    """What can be changed of a version.

    `pinned_until` is when the pin ends, null for no end, and `pin_reason` says why it is there. Both need a version
    that is pinned, or `pinned: true` next to them.

    `quarantined: false` releases it from quarantine, from waiting for its verdict, or from a verdict that speaks
    against it: what was found before no longer counts. `true` is not possible.
    """

    pinned: Annotated[bool, Field(strict=True, examples=[True])] = unset()
    pinned_until: End | None = unset()
    pin_reason: str = Field(default_factory=str, max_length=1000)
    note: str = Field(default_factory=str, max_length=1000)
    quarantined: Literal[False] = unset()

    def change(self) -> VersionChange:
        """Convert the patch for the service."""
        sent = self.changes()
        names = {"pinned_until": "until", "pin_reason": "reason"}
        return VersionChange(
            pinned=sent.get("pinned"),
            pin={names[name]: value for name, value in sent.items() if name in names},
            note=sent.get("note"),
            releases="quarantined" in sent,
        )


def version_tag(record: VersionRecord) -> str:
    """Return the ETag of a version."""
    return entity_tag(Version.of(record), VersionPatch)


class VersionPage(PageReply[Version]):
    """A page of versions. `next` is the `cursor` of the next page, null on the last one."""


class VersionQuery(PageQuery):
    """Which versions, and their order."""

    verdict: list[Verdict] = Field([], max_length=7, description="Only versions with this verdict. May be repeated.")
    reason: list[ReasonName] = Field(
        [], max_length=7, description="Only versions in quarantine for this reason. May be repeated."
    )
    damaged: Flag = Field(False, description="Only versions whose bytes cannot be read.")
    label: str | None = Field(
        None,
        max_length=265,
        pattern="^[a-z][a-z0-9_.-]{0,63}:.+$",
        description="Only versions with this label: its name, a colon, and its value.",
        examples=["segment:000000010000000A000000FE"],
    )
    sort: Literal["number", "-number"] = "-number"


class CheckOutcome(Reply):
    """What a check of a version has found."""

    name: str
    outcome: Outcome
    message: str
    at: Time
    actor: str


class Check(CheckOutcome):
    """The result of a check of a version. `details` are those of the plug-in or the client that made it."""

    details: dict[str, Any]

    @classmethod
    def of(cls, record: DetailedCheck) -> "Check":
        """Convert a result."""
        return cls.model_validate(record, from_attributes=True)


class Checks(Reply):
    """All results of a version, by name. There is one for each check, so `next` is always null."""

    items: list[Check]
    next: str | None = None


class VersionCheck(CheckOutcome):
    """What a check has found, with the number of the version. The `details` are in the list of that version."""

    version: int

    @classmethod
    def of(cls, record: CheckRecord) -> "VersionCheck":
        """Convert a result."""
        return cls.model_validate({**vars(record), "version": record.version_number})


class VersionCheckPage(PageReply[VersionCheck]):
    """A page of results, those of the newest version first."""


class VersionCheckQuery(PageQuery):
    """Which results."""

    outcome: list[Outcome] = Field([], max_length=4, description="Only results with this outcome. May be repeated.")


_CONTROL = "\\x00-\\x1f\\x7f-\\x9f"
_MESSAGE_LENGTH = 1000
_LINE = {"type": "string", "maxLength": _MESSAGE_LENGTH, "pattern": f"^[^{_CONTROL}]*$"}


def _check_line(text: str) -> str:
    if len(text) > _MESSAGE_LENGTH:
        raise ValueError(f"The message has {len(text)} characters, at most {_MESSAGE_LENGTH} are kept")
    if re.search(f"[{_CONTROL}]", text):
        raise ValueError(
            "The message has line ends or other control characters: write one line, and the rest into details"
        )
    return text


class NewCheckResult(Form):
    """The result of a check that a client has made, such as a restore test. It replaces the one of the same name.

    The names of checks of the service and of plug-ins are refused. `restore` is deprecated: it is stored as
    `restore (client)`. A version has at most 20 names of clients, and `details` at most 16 KiB as JSON.
    """

    name: str = Field(RESTORE_OF_CLIENT, pattern=r"^([a-z][a-z0-9_]{0,63}|restore \(client\))$")
    outcome: Literal["good", "broken"]
    message: Annotated[str, AfterValidator(_check_line), WithJsonSchema(_LINE)] = ""
    details: dict[str, Any] = Field(default_factory=dict, examples=[{"seconds": 12}])


_LONGEST_LINK = timedelta(seconds=LINK_SECONDS)
_SECONDS = "([1-9][0-9]?|[1-5][0-9][0-9]|600)"
_LINK_DURATION = DURATION | {
    "description": "A duration (ISO 8601) of at most ten minutes: `PT10M`, `PT30S`; also `10m`, `30s`.",
    "pattern": f"^(PT([1-9]|10)M|PT{_SECONDS}S|([1-9]|10)m|{_SECONDS}s)$",
    "examples": ["PT10M"],
}


def _check_link_duration(duration: timedelta) -> timedelta:
    if not timedelta() < duration <= _LONGEST_LINK:
        raise ValueError("A link is valid for at most ten minutes: expected more than PT0S and at most PT10M")
    return duration


LinkDuration = Annotated[Duration, AfterValidator(_check_link_duration), WithJsonSchema(_LINK_DURATION)]


class LinkRequest(Form):
    """How long a link is valid: at most ten minutes."""

    expires_in: LinkDuration = Field(_LONGEST_LINK, json_schema_extra={"default": "PT10M"})


class Link(Reply):
    """A link that works without a token until `expires_at`."""

    url: str
    expires_at: Time
