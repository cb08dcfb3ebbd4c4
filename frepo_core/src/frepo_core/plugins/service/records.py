"""What the service tells plug-ins about versions and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from ..checks.upload_check import CollectionInfo

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class StoredVersion:
    """A version of a collection. `size` is in bytes, `created_at` in UTC (aware).

    `name` is the file name of the collection's versions, `stored_name` the one under which links know the content.
    `verdict` is a word of `GET /api/v1/collections/{id}/versions`, such as `complete`, and `verdict_reason` a sentence.
    `removed`: it was stored for this idempotency key, and was deleted or evicted since. Nothing is stored then.
    `labels` are those of `add_version`.
    """

    id: str
    collection_id: str
    number: int
    name: str
    stored_name: str
    size: int
    sha256: str
    mime_type: str
    created_at: datetime
    verdict: str
    verdict_reason: str = ""
    quarantined: bool = False
    quarantine_reason: str | None = None
    pinned: bool = False
    damaged: bool = False
    note: str = ""
    removed: bool = False
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class TrashedVersion:
    """A version in the trash, which can be restored until `ends_at`. `size` is in bytes, times are in UTC (aware).

    `reason` says why it left, such as `evicted` or `deleted`. Nobody can end it before `locked_until`. `damaged` says
    that its bytes are wrong or missing. What it needs from other versions is needed as long as it is in the trash.
    """

    collection_id: str
    number: int
    name: str
    size: int
    sha256: str
    mime_type: str
    created_at: datetime
    evicted_at: datetime
    ends_at: datetime
    reason: str
    verdict: str
    damaged: bool = False
    note: str = ""
    locked_until: datetime | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class VersionCheck:
    """What one check has said of a version: those of plug-ins, restore tests, and those of clients. `at` is in UTC.

    `outcome` is `good`, `broken`, `suspicious`, `pending` or `not checked`.
    """

    number: int
    name: str
    outcome: str
    message: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class FileInfo:
    """A plain file under its stored `name`. `size` is in bytes, `created_at` in UTC (aware).

    `is_new` is false if an upload returned a file with the same content that existed. `removed`: it was stored for this
    idempotency key, and was deleted since. Nothing is stored then.
    """

    name: str
    requested_name: str
    size: int
    sha256: str
    mime_type: str
    created_at: datetime
    tags: tuple[str, ...] = ()
    public: bool = False
    is_new: bool = True
    removed: bool = False


@dataclass(frozen=True, kw_only=True)
class UploadStart:
    """What `may_add_version` knows about an upload that begins.

    - `last_number`: of the collection. Keep it, and give it to `add_version`.
    - `max_size`: the largest content in bytes; None if there is no limit.
    - `room`: how many bytes the storage can take before less than `trash.min_free` is free; None if that is unknown.
    """

    collection: CollectionInfo
    last_number: int
    max_size: int | None
    room: int | None


@dataclass(frozen=True, kw_only=True)
class ListPage(Generic[Item]):
    """A page of a list. `next` is the `after` of the next page, None on the last one. A page may be short or empty."""

    items: Sequence[Item]
    next: str | None
