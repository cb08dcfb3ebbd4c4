"""What a token allows of a content: its size and its type."""

from frepo_core.domain.identity import Identity
from frepo_core.domain.mime_types import is_allowed_by_token
from frepo_core.domain.permissions import may_upload
from frepo_core.domain.sizes import format_size
from frepo_core.errors import TooBigError, TypeNotAllowedError

from .ingest import Limit


def token_size_limit(by: Identity) -> Limit:
    """Return the token's limit for the size of one content."""
    return Limit(
        size=by.max_file_size,
        refuse=lambda: TooBigError("File size is too big", context={"max": format_size(by.max_file_size)}),
    )


def check_type_of_file(by: Identity, mime: str) -> None:
    """Raise `TypeNotAllowedError` if the token's roles or its own list of types do not allow a file of this type."""
    if not may_upload(by, mime):
        raise _type_not_allowed(mime)


def check_type_of_version(by: Identity, mime: str) -> None:
    """Raise `TypeNotAllowedError` if the token's own list of types does not allow a version of this type."""
    if not is_allowed_by_token(by, mime):
        raise _type_not_allowed(mime)


def _type_not_allowed(mime: str) -> TypeNotAllowedError:
    return TypeNotAllowedError("Mime type not allowed", context={"mime": mime})
