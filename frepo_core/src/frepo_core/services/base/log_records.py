"""Escapes texts of clients in the log, so that they can neither begin a line nor control a terminal."""

import io
import logging
import traceback
from collections.abc import Mapping
from typing import Any, TypeGuard

from frepo_core.domain.texts.foreign_text import escape_controls
from frepo_core.errors import (
    BlobDamaged,
    DamagedBaseError,
    DamagedObjectError,
    DatabaseUnavailableError,
    FrepoError,
    ReadOnlyError,
    StorageFull,
    StorageUnavailable,
)

_OUTAGES = (DatabaseUnavailableError, ReadOnlyError, StorageFull, StorageUnavailable)
_DAMAGE = (BlobDamaged, DamagedBaseError, DamagedObjectError)
_MAX_CAUSE = 300


class SafeRecord(logging.LogRecord):
    """A record of the log whose values and message hold no raw control characters, whatever formats it.

    Line ends in values are escaped, those of the message itself stay. The lines of a traceback are indented.
    An outage, such as a full disk or a database that is away, has its cause in the line instead of a traceback.
    """

    _outage = ""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        error = self.exc_info[1] if self.exc_info else None
        if is_outage(error):
            self._outage, self.exc_info = f": {describe_outage(error)}", None
        elif self.exc_info:
            self.exc_text = _indented(self.exc_info)

    def getMessage(self) -> str:  # the name is that of the base class
        """Return the message with its values."""
        message, values = str(self.msg), self.args
        if values:
            message %= (
                {name: _Safe.of(each) for name, each in values.items()}
                if isinstance(values, Mapping)
                else tuple(map(_Safe.of, values))
            )
        return escape_controls(message, keeps_lines=True) + escape_controls(self._outage)


class _Safe:
    """A value whose texts are escaped."""

    def __init__(self, value: object) -> None:
        self._value = value

    @classmethod
    def of(cls, value: object) -> object:
        return value if isinstance(value, int | float) else cls(value)

    def __str__(self) -> str:
        return escape_controls(str(self._value))

    def __repr__(self) -> str:
        return escape_controls(repr(self._value))


def is_outage(error: BaseException | None) -> TypeGuard[FrepoError]:
    """Return whether an error says that the disk, the storage or the database is full or away: no code is wrong."""
    return isinstance(error, _OUTAGES) and not isinstance(error, _DAMAGE)


def describe_outage(error: FrepoError) -> str:
    """Return the name and the message of an outage with its cause, in one line."""
    text, cause = f"{type(error).__name__}: {error.message}", error.__cause__
    if cause is None:
        return text
    origin = getattr(cause, "orig", None) or cause  # the driver's error: SQLAlchemy's has the statement, too
    return f"{text} ({type(origin).__name__}: {' '.join(str(origin).split())[:_MAX_CAUSE]})"


def log_safely() -> None:
    """Let all loggers of the process make safe records."""
    logging.setLogRecordFactory(SafeRecord)


def _indented(exc_info: Any) -> str:
    text = io.StringIO()
    traceback.print_exception(*exc_info, file=text)
    lines = escape_controls(text.getvalue().rstrip("\n"), keeps_lines=True).split("\n")
    return "\n".join(f"  {line}" for line in lines)
