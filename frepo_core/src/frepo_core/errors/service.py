"""Errors about the state of the service, its database and its storages."""

from datetime import datetime

from .base import FrepoError


class ReadOnlyError(FrepoError):
    """The service is in read-only mode."""

    number = 5000001


class DatabaseUnavailableError(FrepoError):
    """The database cannot be reached or does not answer."""

    number = 7016102


class StrategyHangsError(FrepoError):
    """The strategy of a collection did not answer in time. The message names it and its package."""

    number = 7016107


class PolicyFailedError(FrepoError):
    """A policy of a plug-in failed, and refuses what it does not decide about. The message names it and its package."""

    number = 7016108


class ReadersBusyError(FrepoError):
    """This process decodes as many compressed contents as its memory allows."""

    number = 7016109


class OutdatedDecisionError(DatabaseUnavailableError):
    """Another writer changed a collection after its strategy was asked. The caller asks again."""


class BytesMissingError(FrepoError):
    """The bytes of a record are missing in the storage."""

    number = 7016105


class CollectionProblemError(FrepoError):
    """A plug-in reports a problem of a collection."""


class SweepStoppedError(FrepoError):
    """A sweep stopped before it deleted blobs that may still be needed."""


class MirrorLateError(FrepoError):
    """A content waits for its second copy for longer than the settings allow."""


class CompactLateError(FrepoError):
    """More bytes than the settings allow are only kept because others need them as their base."""


class StoreConflictError(FrepoError):
    """A value that a plug-in keeps does not have the version that the plug-in expects: another came first."""

    number = 409


class StorageError(FrepoError):
    """Base of the errors of storage backends. The driver's exception is the `__cause__`."""


class BlobNotFound(StorageError):  # plug-ins know this name
    """There is no blob with this key."""

    number = 7016105


class BlobRetained(StorageError):  # plug-ins know this name
    """The storage keeps a blob from deletion until a time, which is in `until` (UTC, aware) if it is known."""

    def __init__(self, message: str, *, until: datetime | None = None) -> None:
        super().__init__(message)
        self.until = until


class StorageUnavailable(StorageError):  # plug-ins know this name
    """The storage cannot be reached, or failed. Trying again later may help."""

    number = 7016103


class BlobDamaged(StorageUnavailable):  # plug-ins know this name
    """The storage answers, but the bytes of this blob are not those that were stored. Trying again does not help."""


class StorageFull(StorageError):  # plug-ins know this name
    """The storage or the disk for temporary files is full."""

    number = 7016104


class SpoolFullError(StorageFull):
    """The disk for temporary files is full while a content is decoded. The storage and the content are sound."""


class DamagedObjectError(StorageUnavailable):
    """The object of an encoded content is wrong. `digest` is the content, `segment` its number from 0 or None."""

    def __init__(self, digest: str, what: str, *, segment: int | None = None) -> None:
        part = "" if segment is None else f", segment {segment}"
        super().__init__(f"The object of the content {digest}{part} is damaged: {what}")
        self.digest = digest
        self.segment = segment


class DamagedBaseError(StorageUnavailable):
    """The base of an encoded content is wrong: `base` is its digest. The object of the content `digest` may be sound.

    If the base is encoded, too, the `__cause__` is what is wrong with its object or with its own base.
    """

    def __init__(self, digest: str, base: str, what: str, *, segment: int | None = None) -> None:
        part = "" if segment is None else f", segment {segment}"
        super().__init__(f"The content {digest}{part} cannot be decoded because of its base {base}: {what}")
        self.digest = digest
        self.base = base
        self.segment = segment


class TooManyCondemnedError(FrepoError):
    """A check condemned versions of so many collections within a day that the check itself may be what is broken."""

    def __init__(self, check: str) -> None:
        super().__init__(
            f"The check {check!r} has condemned the backups of too many collections within a day, so its result is "
            "recorded as not checked. Look whether the check itself or its host is broken, and run it again tomorrow"
        )


class RemoteError(FrepoError):
    """A URL could not be fetched (add-by-url). `reason` has more detail than `message`."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


class RemoteStatusError(RemoteError):
    """The remote server answered with an error (add-by-url)."""

    number = 60004


class RemoteRefusedError(RemoteError):
    """The URL is not allowed, or its server cannot be reached (add-by-url)."""

    number = 60005


class RemoteFailedError(RemoteError):
    """The transfer failed before its end (add-by-url)."""

    number = 60006


class RemotesBusyError(FrepoError):
    """The maximum number of URLs is being fetched already (add-by-url)."""

    number = 60008
