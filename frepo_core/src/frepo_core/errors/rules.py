"""Errors about what a client sends: the rules of collections and versions, and the bounds of uploads."""

from collections.abc import Mapping
from typing import Any

from .base import FrepoError


class RuleError(FrepoError):
    """A rule of collections or versions forbids the request. `field` names the value, `text` is for programs."""

    def __init__(
        self,
        number: int,
        field: str,
        text: str,
        *,
        context: Mapping[str, Any] | None = None,
        explanation: str | None = None,
    ) -> None:
        super().__init__("Logic validation error", context=context, explanation=explanation, code_name=text)
        self.number = number  # type: ignore[misc]  # plug-ins raise this class with numbers of their own
        self.field = field
        self.text = text


class VersionConflictError(FrepoError):
    """The last version is not the one that the upload requires (`If-Match`)."""

    number = 4015


class IdempotencyConflictError(FrepoError):
    """An Idempotency-Key was sent again with other content."""

    number = 4016


class CollectionRuleError(RuleError):
    """Base of the service's own rules. Their numbers, fields and texts are part of the API."""

    def __init__(self, *, context: Mapping[str, Any] | None = None, explanation: str | None = None) -> None:
        super().__init__(self.number, self.field, self.text, context=context, explanation=explanation)


class TooManyVersionsError(CollectionRuleError):
    """More versions than the service or the collection allows; `max` is in the context."""

    number, field, text = 4000, "limits.versions", "max_backups_count_too_many"


class CollectionSizeCeilingError(CollectionRuleError):
    """The collection's size limit is above the service's ceiling."""

    number, field, text = 4001, "limits.total_size", "max_collection_size_too_big"


class VersionSizeCeilingError(CollectionRuleError):
    """The version's size limit is above the service's ceiling."""

    number, field, text = 4002, "limits.version_size", "max_one_version_size_too_big"


class CollectionSizeBelowVersionSizeError(CollectionRuleError):
    """The collection's size limit is below the limit for one version."""

    number, field, text = 4003, "limits.total_size", "max_collection_size_is_lower_than_single_element_size"


class CollectionSizeBelowNeedError(CollectionRuleError):
    """The collection's size limit is below the number of versions times the size of one."""

    number, field = 4003, "limits.total_size"
    text = "max_collection_size_will_have_not_enough_space_to_keep_max_number_of_items"


class CollectionSizeBelowContentError(CollectionRuleError):
    """The collection's new size limit is below the size of its versions."""

    number, field = 4004, "limits.total_size"
    text = "max_collection_size_is_smaller_than_real_sum_of_data_in_collection"


class CollectionNotEmptyError(CollectionRuleError):
    """A collection that has versions cannot be deleted."""

    number, field, text = 4005, "collection", "collection_cannot_be_deleted_while_it_contains_not_deleted_versions"


class VersionTooBigError(CollectionRuleError):
    """The version is larger than the collection allows for one."""

    number, field, text = 4006, "content", "new_version_exceeds_single_element_limit_specified_for_this_collection"


class CollectionFullError(CollectionRuleError):
    """The version does not fit into the collection's size limit."""

    number, field, text = 4007, "content", "new_version_makes_collection_too_big_on_disk"


class DuplicateVersionError(CollectionRuleError):
    """The collection has a version with the same content."""

    number, field, text = 4008, "content", "backup_version_uploaded_twice"


class InvalidCollectionIdError(CollectionRuleError):
    """The chosen id of a collection is not a UUIDv4."""

    number, field, text = 4011, "id", "custom_id_is_not_uuid_format"


class VersionTooYoungError(CollectionRuleError):
    """A version is younger than the collection's minimum retention."""

    number, field, text = 4012, "guards.min_retention", "version_is_younger_than_the_minimal_retention"


class VersionTooSmallError(CollectionRuleError):
    """The version is smaller than the collection's minimum."""

    number, field, text = 4013, "content", "new_version_is_smaller_than_the_minimum"


class VersionShrankError(CollectionRuleError):
    """The version shrank more than the collection allows."""

    number, field, text = 4014, "content", "new_version_shrank_too_much"


class VersionGrewError(CollectionRuleError):
    """The version grew more than the collection allows."""

    number, field, text = 4022, "content", "new_version_grew_too_much"


class VersionKindError(CollectionRuleError):
    """The content of the version is of another kind than that of the last ones; `message` is in the context."""

    number, field, text = 4023, "content", "new_version_is_of_another_kind"


class VersionUnchangedError(CollectionRuleError):
    """The version has the same content as that of an earlier day, and the collection expects a change."""

    number, field, text = 4024, "content", "new_version_is_unchanged"


class VersionDeclineError(CollectionRuleError):
    """The sizes of the last thirty nights decline more than the collection allows; both percentages are in context."""

    number, field, text = 4029, "content", "new_version_continues_a_decline"


class UploadCheckError(CollectionRuleError):
    """An upload check of a plug-in found the content broken; `check` and `message` are in the context."""

    number, field, text = 4017, "content", "an_upload_check_refused_the_content"


class PolicyRefusedError(CollectionRuleError):
    """A policy of a plug-in refuses to upload, delete or download a version.

    `policy` and `message` in the context say which one, and why.
    """

    number, field, text = 4025, "version", "a_policy_refused_the_request"


class VersionPinnedError(CollectionRuleError):
    """A pinned version cannot be deleted; `pinned` is the number of pinned versions if a collection is deleted."""

    number, field, text = 4018, "version", "version_is_pinned"


class VersionLockedError(CollectionRuleError):
    """A version is locked: nobody removes it, or ends its pin, before the time `until` in the context."""

    number, field, text = 4026, "version", "version_is_locked"


class CollectionHeldError(CollectionRuleError):
    """The collection is on hold: nothing leaves it. `hold` in the context says since when, by whom and why."""

    number, field, text = 4028, "collection", "collection_is_on_hold"


class LockShortenedError(CollectionRuleError):
    """The lock of a collection is not shortened or removed; `locked` in the context is its length."""

    number, field, text = 4027, "locked", "lock_cannot_be_shortened"


class PinsLeaveNoRoomError(CollectionRuleError):
    """The pinned versions of a collection would leave no room for another version of the size of the newest."""

    number, field, text = 4019, "pinned", "pinned_versions_would_leave_no_room"


class VersionQuarantinedError(CollectionRuleError):
    """A version that is in quarantine cannot be pinned."""

    number, field, text = 4020, "pinned", "version_is_in_quarantine"


class ForeignVersionError(CollectionRuleError):
    """The version belongs to another collection."""

    number, field, text = 400, "collection", "version_collection_mismatch"


class RestoreConflictError(FrepoError):
    """Something cannot be restored from the trash: there is no room, or its number or its id is in use."""

    number = 4021


class TypeNotAllowedError(FrepoError):
    """The token does not allow the detected type."""

    number = 3000


class TooBigError(FrepoError):
    """The content is larger than the token allows."""

    number = 3001


class EmptyContentError(FrepoError):
    """The content is empty."""

    number = 60003


class DigestMismatchError(FrepoError):
    """The content does not match the digest that the client sent."""

    number = 60007
