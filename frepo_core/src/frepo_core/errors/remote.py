"""Errors of add-by-url."""

from .base import FrepoError


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
