"""The kinds of events: one name for each thing that can happen, with the keys of its data."""

from enum import StrEnum
from typing import Self


class EventKind(StrEnum):
    """A kind of event. Its value is the public name.

    `description` says what has happened, and `keys` are all keys that the data of such an event can have.
    """

    description: str
    keys: tuple[str, ...]

    def __new__(cls, name: str, description: str, *keys: str) -> Self:
        """Create a member from its public name, its description and the keys of its data."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.description = description
        member.keys = keys
        return member

    VERSION_ADDED = "version.added", "A version was added.", "name", "size", "sha256", "type"
    VERSION_REFUSED = (
        "version.refused",
        "An upload of a version was refused. One event counts the refusals of a token for a reason in a minute.",
        *("reason", "message", "error", "size", "count"),
    )
    VERSION_SUSPICIOUS = (
        "version.suspicious",
        "A version was added although it violates a guard of its collection.",
        *("name", "size", "sha256", "type", "reason", "message"),
    )
    VERSION_EVICTED = (
        "version.evicted",
        (
            "A version was moved to the trash to make room: by the collection's strategy, or as the oldest one in its "
            "quarantine, or of those whose verdict is pending. `verdict` is what was known against it, if anything was."
        ),
        *("name", "size", "sha256", "type", "replaced_by", "reason", "verdict", "ends_at"),
    )
    VERSION_QUARANTINED = (
        "version.quarantined",
        "A version was put into quarantine. It is night number `nights` with the same reason; `new_normal` from 3 on.",
        *("name", "size", "sha256", "type", "reason", "message", "nights", "new_normal", "verdict"),
    )
    VERSION_RELEASED = (
        "version.released",
        "A person released a version: from quarantine, or from a verdict that spoke against it.",
        *("name", "size", "sha256", "type", "reason"),
    )
    VERSION_CONDEMNED = (
        "version.condemned",
        "A check of the service found a version broken that had been accepted. It stays, and is not `latest` any more.",
        *("name", "size", "sha256", "type", "check", "message"),
    )
    VERSION_KIND_CHANGED = (
        "version.kind_changed",
        "A version has another format than those before it, as `message` says, and its guard allows this.",
        *("name", "size", "sha256", "type", "message"),
    )
    VERSION_UNJUDGED = (
        "version.unjudged",
        "A version has waited for its verdict for `checks.patience`; rotation goes on without it.",
        *("name", "size", "sha256", "type", "since"),
    )
    VERSION_PINNED = (
        "version.pinned",
        "A version was pinned, until `pinned_until` if that is set, or the end or the reason of its pin was changed.",
        *("name", "size", "sha256", "type", "pinned_until", "pin_reason"),
    )
    VERSION_UNPINNED = (
        "version.unpinned",
        "A version was unpinned: by a person, or, if `ended`, because the time of the pin was over.",
        *("name", "size", "sha256", "type", "pin_reason", "ended"),
    )
    VERSION_NOTED = "version.noted", "The note of a version was changed.", "before", "after"
    VERSION_DELETED = (
        "version.deleted",
        "A version was deleted on request. It can be restored until `ends_at`, as an evicted one can.",
        *("name", "size", "sha256", "type", "reason", "ends_at"),
    )
    VERSION_RESTORED = (
        "version.restored",
        "A version was restored from the trash. It is not evicted before `protected_until`.",
        *("name", "size", "sha256", "type", "removed", "removed_at", "protected_until"),
    )
    VERSION_CHECKED = "version.checked", "A check of a version has ended.", "check", "outcome", "message"
    VERSION_DOWNLOADED = (
        "version.downloaded",
        "A version was downloaded. Only with `events.downloads = true`.",
        *("name", "size", "sha256", "type", "in_trash"),
    )

    UPLOAD_ABORTED = (
        "upload.aborted",
        (
            "An upload of a version broke off after `received` bytes. One event counts those of a token to a "
            "collection in a minute."
        ),
        *("received", "size", "reason", "count"),
    )
    RUN_FAILED = (
        "run.failed",
        "A client reported that its backup job failed. There is one event a minute for each token and collection.",
        *("reason", "exit_statuses", "seconds", "host", "client"),
    )
    RUN_REPORTED = (
        "run.reported",
        "A client reported that its backup job was skipped. A job that ended well has no event of its own.",
        *("reason", "exit_statuses", "seconds", "host", "client"),
    )

    COLLECTION_CREATED = "collection.created", "A collection was created.", "after"
    COLLECTION_EDITED = (
        "collection.edited",
        (
            "A collection was edited. `next_upload` says which versions the next upload would evict, if that may have "
            "changed. `restore_choice` names a collection whose restore test was chosen."
        ),
        *("before", "after", "next_upload", "restore_choice"),
    )
    COLLECTION_DELETED = (
        "collection.deleted",
        "A collection was deleted. It can be restored until `ends_at`, with the versions that it had.",
        *("before", "versions", "ends_at"),
    )
    COLLECTION_RESTORED = (
        "collection.restored",
        "A deleted collection was restored, with its versions that were still in the trash.",
        *("after", "versions", "size", "deleted_at"),
    )
    COLLECTION_MOVED = (
        "collection.moved",
        "The versions of a collection were moved into `storage`, on request. `failed` contents stay where they were.",
        *("storage", "contents", "size", "failed"),
    )
    COLLECTION_HELD = (
        "collection.held",
        "A collection was put on hold for `reason`, so that nothing leaves it; or that was changed from `before`.",
        *("reason", "before"),
    )
    COLLECTION_HOLD_ENDED = (
        "collection.hold_ended",
        "The hold of a collection, which `held_by` had set at `since` for `reason`, was ended.",
        *("since", "held_by", "reason"),
    )
    COLLECTION_OVERDUE = (
        "collection.overdue",
        (
            "A backup that was expected has not arrived within the grace. It is written once until the collection "
            "recovers."
        ),
        *("expected_every", "due_at", "overdue_at", "last_arrival", "cause"),
    )
    COLLECTION_RECOVERED = (
        "collection.recovered",
        "A collection that was overdue is not any more: a version arrived, or the expectation was changed.",
        *("overdue_since", "last_arrival", "reason"),
    )
    COLLECTION_FULL = (
        "collection.full",
        "An upload was refused because there is no room for it. It is written once until a version is accepted.",
        *("reason", "message", "versions", "stored_size", "size"),
    )
    COLLECTION_PROBLEM = (
        "collection.problem",
        "A plug-in reported a problem of a collection. It is written once until the problem ends.",
        *("plugin", "name", "message"),
    )
    COLLECTION_PROBLEM_ENDED = (
        "collection.problem_ended",
        "A problem that a plug-in had reported ended: it says so, or it is not installed any more.",
        *("plugin", "name", "message", "since"),
    )
    COLLECTION_SENDER_CHANGED = (
        "collection.sender_changed",
        "A version came from another program or host (`what`) than in the last weeks. It is written once for each.",
        *("what", "before", "after", "message"),
    )
    COLLECTION_SENDERS_IN_TURN = "collection.senders_in_turn", "Several hosts send in turn.", "hosts", "message"
    COLLECTION_ACCESS_GRANTED = "collection.access_granted", "A token was put on the list of a collection."
    COLLECTION_ACCESS_REVOKED = "collection.access_revoked", "A token was taken off the list of a collection."

    FILE_ADDED = (
        "file.added",
        "A file was uploaded under a new stored name.",
        *("name", "size", "sha256", "type", "tags", "public", "has_password"),
    )
    FILE_EDITED = (
        "file.edited",
        "The name, the tags, the visibility or the password of a file were changed.",
        *("name", "size", "sha256", "type", "before", "after"),
    )
    FILE_DELETED = "file.deleted", "A file was deleted.", "name", "size", "sha256", "type"
    FILE_DOWNLOADED = (
        "file.downloaded",
        "A file was downloaded. Only with `events.downloads = true`.",
        *("name", "size", "sha256", "type"),
    )

    ALIAS_CREATED = "alias.created", "An alias was made.", "name", "after"
    ALIAS_EDITED = "alias.edited", "An alias was given another file.", "name", "before", "after"
    ALIAS_DELETED = "alias.deleted", "An alias was deleted.", "name", "before"

    TOKEN_CREATED = "token.created", "A token was generated.", "after"
    TOKEN_EDITED = "token.edited", "The name, the expiry or the restrictions of a token were edited.", "before", "after"
    TOKEN_SHARED = "token.shared", "Several hosts use one token in turn.", "hosts", "message"
    TOKEN_ROTATED = (
        "token.rotated",
        "A token was replaced by a new one with the same rights and collections. The old one ends at `ends_at`.",
        *("replaced_by", "ends_at", "collections"),
    )
    TOKEN_REVOKED = "token.revoked", "A token was revoked.", "name", "roles"
    TOKEN_EXPIRED = (
        "token.expired",
        "A token was removed: its time was over, or it was valid for one upload only.",
        *("name", "roles", "expires_at", "reason"),
    )

    ENROLMENT_CREATED = (
        "enrolment.created",
        "A one-time code was made, with which a host gets a token for the collection. It is valid until `expires_at`.",
        *("enrolment", "name", "expires_at"),
    )
    ENROLMENT_USED = (
        "enrolment.used",
        "A host has used a one-time code and has a token for the collection now.",
        *("enrolment", "name"),
    )
    ENROLMENT_REVOKED = (
        "enrolment.revoked",
        "A one-time code was revoked before a host has used it.",
        *("enrolment", "name"),
    )

    BLOB_DAMAGED = (
        "blob.damaged",
        "Bytes in a storage were found to be wrong or missing.",
        *("storage", "key", "size", "sha256", "used_by", "used_by_count", "problem"),
    )
    BLOB_HEALED = (
        "blob.healed",
        "Damaged bytes are sound again: they were uploaded again, or a check found them right.",
        *("storage", "key", "size", "sha256", "used_by", "used_by_count"),
    )
    COPY_DAMAGED = (
        "copy.damaged",
        "A second copy of a content was found to be wrong or missing. It is made again.",
        *("storage", "key", "size", "sha256", "problem"),
    )
    MIRROR_LATE = (
        "mirror.late",
        "A content has waited for its second copy in `storage` for longer than `mirror.max_lag`.",
        *("storage", "since"),
    )
    MIRROR_RECOVERED = (
        "mirror.recovered",
        "No content waits for its second copy in `storage` for longer than `mirror.max_lag` any more.",
        *("storage", "since"),
    )
    BLOB_FELL_BACK = (
        "blob.fell_back",
        (
            "A content was read from another copy, because the one in `storage` was missing, short, damaged or "
            "unreachable. One event counts those of a storage in a minute."
        ),
        *("storage", "key", "size", "sha256", "problem", "count"),
    )
    STORAGE_FULL = "storage.full", "A storage has no room for an upload.", "storage", "problem"
    STORAGE_UNAVAILABLE = (
        "storage.unavailable",
        "A storage failed, or could not be reached, for an upload or a health check, or is not the one it was.",
        *("storage", "problem"),
    )
    STORAGE_RECOVERED = (
        "storage.recovered",
        "A storage that was full or unavailable works again.",
        *("storage", "was", "since"),
    )

    STORAGE_DISPUTED = (
        "storage.disputed",
        "A storage may hold the blobs of another database, or newer ones, so nothing was deleted from it.",
        *("storage", "problem"),
    )
    STORAGE_ADOPTED = (
        "storage.adopted",
        "A database became the only owner of a storage, by `frepo storage:adopt`.",
        *("storage", "epoch", "problem"),
    )
    STORAGE_PROMOTED = (
        "storage.promoted",
        (
            "A storage became the first one instead of `former`, by `frepo storage:promote`. `lacking` is the number "
            "of contents in `former` that had no copy in it."
        ),
        *("storage", "former", "epoch", "lacking"),
    )

    TRASH_ENDED = (
        "trash.ended",
        "A version in the trash was deleted for good: its time was over, or, early, for its room or on request.",
        *("name", "size", "sha256", "reason", "early", "removed", "removed_at"),
    )

    MESSAGE_SENT = "message.sent", "A plug-in sent a message to people, such as a report.", "title", "body", "level"

    JOB_FAILED = "job.failed", "A job of the worker failed.", "job", "started_at", "error"
    JOB_RECOVERED = "job.recovered", "A job that had failed before succeeded.", "job", "started_at"
