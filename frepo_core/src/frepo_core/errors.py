"""The tree of refusals: each has a message for a person and a stable number for a machine; none knows HTTP."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class FrepoError(Exception):
    """Base of everything that frepo raises on purpose.

    `number` is stable: clients may rest on it. `docs/errors.md` lists all of them.
    """

    number: ClassVar[int] = 500

    def __init__(self, message: str, *, context: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.context = dict(context) if context else None


class ConfigurationError(FrepoError):
    """A setting, a plug-in or the environment does not allow a start, or a request; the message says what to change."""

    number = 7016106


class PluginError(FrepoError):
    """A plug-in broke its contract: a fault of the service, whose message names the package for the log."""


# Requests that cannot be served as they are


class AccessDeniedError(FrepoError):
    """The token is missing, not valid here, or lacks a role."""

    number = 403


class TooManyAttemptsError(FrepoError):
    """A client has tried too many wrong passwords; `retry_after` is in seconds."""

    number = 4290

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotFoundError(FrepoError):
    """The named thing does not exist."""

    number = 404


class FieldsError(FrepoError):
    """Some fields of the request are not acceptable.

    `fields` maps names, in the spelling that clients know, to messages: `form.<field>`, and `form` for
    the whole body.
    """

    number = 400

    def __init__(self, fields: Mapping[str, Sequence[str]], message: str = "Validation error") -> None:
        super().__init__(message)
        self.fields = {name: list(texts) for name, texts in fields.items()}


class MalformedRequestError(FrepoError):
    """The request cannot be read: broken JSON, wrong charset, broken multipart, a length that does not fit."""

    number = 400


class RuleError(FrepoError):
    """A rule of collections or versions forbids it: one field, one text, a number of its own."""

    def __init__(self, number: int, field: str, text: str, *, context: Mapping[str, Any] | None = None) -> None:
        super().__init__("Logic validation error", context=context)
        self.number = number  # type: ignore[misc]  # the rules share one class, their numbers differ
        self.field = field
        self.text = text


class VersionConflictError(FrepoError):
    """Another version came first, and the upload was bound to the one before (`If-Match`)."""

    number = 4015


class IdempotencyConflictError(FrepoError):
    """An Idempotency-Key came again with other content."""

    number = 4016


# Contents that are refused


class TypeNotAllowedError(FrepoError):
    """The sniffed type is in none of the token's lists."""

    number = 3000


class TooBigError(FrepoError):
    """The content is larger than the token allows."""

    number = 3001


class EmptyContentError(FrepoError):
    """There is no content at all."""

    number = 60003


class DigestMismatchError(FrepoError):
    """The content is not what the client said that it sends."""

    number = 60007


class RemoteError(FrepoError):
    """A URL could not be fetched (add-by-url); `reason` says why, in more detail than `message`."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class RemoteStatusError(RemoteError):
    """The other server answered with an error (add-by-url)."""

    number = 60004


class RemoteRefusedError(RemoteError):
    """The URL may not be fetched, or cannot be reached (add-by-url)."""

    number = 60005


class RemoteFailedError(RemoteError):
    """Fetcher broke on the way (add-by-url)."""

    number = 60006


# The service itself cannot do it now


class RemotesBusyError(FrepoError):
    """As many URLs are being fetched as may be at once (add-by-url)."""

    number = 60008


class ReadOnlyError(FrepoError):
    """The service is set to read-only."""

    number = 5000001


class DatabaseUnavailableError(FrepoError):
    """The database cannot be reached or does not answer."""

    number = 7016102


class BytesMissingError(FrepoError):
    """A record's bytes are not where they should be."""

    number = 7016105


class SweepStoppedError(FrepoError):
    """A sweep would delete more than is plausible; nothing was deleted. Only the console raises it: it has no number."""


class StorageError(FrepoError):
    """Base of what a storage backend raises; the driver's own exception is its `__cause__`."""


class BlobNotFound(StorageError):  # the contract's name
    """No blob has this key."""

    number = 7016105


class StorageUnavailable(StorageError):  # the contract's name
    """The storage cannot be reached, refuses to work, or broke while working. Trying later may help."""

    number = 7016103


class StorageFull(StorageError):  # the contract's name
    """The storage, or the disk for temporary files, has no room left."""

    number = 7016104
