"""What became of an upload, as the database keeps it: what was stored, or why it was refused."""

from typing import Any

from frepo_core.errors import (
    AccessDeniedError,
    DigestMismatchError,
    EmptyContentError,
    FieldsError,
    FrepoError,
    IdempotencyConflictError,
    MalformedRequestError,
    NotFoundError,
    RuleError,
    TooBigError,
    TypeNotAllowedError,
    VersionConflictError,
)
from frepo_core.plugins import FileInfo, StoredVersion

# The same content would be refused again. Other errors are about the service, and pass.
_REFUSALS = (
    AccessDeniedError,
    DigestMismatchError,
    EmptyContentError,
    FieldsError,
    IdempotencyConflictError,
    MalformedRequestError,
    NotFoundError,
    RuleError,
    TooBigError,
    TypeNotAllowedError,
    VersionConflictError,
)


def is_refusal(error: FrepoError) -> bool:
    """Return whether an error is about the content or the token, and not about the state of the service."""
    return isinstance(error, _REFUSALS)


def describe_refusal(error: FrepoError) -> dict[str, Any]:
    """Return the outcome of an upload that was refused."""
    return {"message": error.explanation or error.sentence or error.message, "code": error.number}


def outcome_of(stored: StoredVersion | FileInfo) -> dict[str, Any]:
    """Return the outcome of an upload that was stored."""
    if isinstance(stored, StoredVersion):
        return {"collection": stored.collection_id, "number": stored.number}
    return {"file": stored.name}
