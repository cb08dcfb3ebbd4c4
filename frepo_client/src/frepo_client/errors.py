"""How a command ends: its exit statuses, and the errors that lead to them."""

from __future__ import annotations

from email.message import Message

STORED = 0
USAGE = 2
UNDECIDED = 10  # with --strict: pending or unchecked
QUARANTINED = 11
BROKEN = 12
COMMAND_FAILED = 20
UNREACHABLE = 30
REFUSED = 40
# What cron sees if several jobs ended differently: the first of these.
WORST_FIRST = (REFUSED, COMMAND_FAILED, BROKEN, QUARANTINED, UNREACHABLE, UNDECIDED, USAGE, STORED)


class ClientError(Exception):
    """A sentence for the administrator, and the exit status of the command."""

    status = REFUSED


class UsageError(ClientError):
    """The command line or the configuration is wrong."""

    status = USAGE


class CommandFailedError(ClientError):
    """A program that the client runs has failed."""

    status = COMMAND_FAILED


class NothingKnownError(CommandFailedError):
    """A program has failed in a way that says nothing about what it was given. `status` is that of the command."""

    def __init__(self, message: str, status: int = COMMAND_FAILED) -> None:
        super().__init__(message)
        self.status = status


class UnreachableError(ClientError):
    """The server did not answer for as long as `retry` says."""

    status = UNREACHABLE


class RefusedError(ClientError):
    """The server has refused. `http_status` and `headers` are those of its answer, `code` its number of the error."""

    def __init__(self, message: str, http_status: int, code: object = None, headers: Message | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.code = code
        self.headers = headers or Message()


class WrongContentError(ClientError):
    """What arrived is not what the server has stored."""

    status = BROKEN


def worst(statuses: list[int]) -> int:
    """Return the exit status for several jobs."""
    return next((status for status in WORST_FIRST if status in statuses), STORED)
