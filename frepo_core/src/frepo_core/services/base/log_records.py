"""Escapes texts of clients in the log, so that they can neither begin a line nor control a terminal."""

import io
import logging
import traceback
from collections.abc import Mapping
from typing import Any

from frepo_core.domain.texts.foreign_text import escape_controls


class SafeRecord(logging.LogRecord):
    """A record of the log whose values and message hold no raw control characters, whatever formats it.

    Line ends in values are escaped, those of the message itself stay. The lines of a traceback are indented.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        if self.exc_info:
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
        return escape_controls(message, keeps_lines=True)


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


def log_safely() -> None:
    """Let all loggers of the process make safe records."""
    logging.setLogRecordFactory(SafeRecord)


def _indented(exc_info: Any) -> str:
    text = io.StringIO()
    traceback.print_exception(*exc_info, file=text)
    lines = escape_controls(text.getvalue().rstrip("\n"), keeps_lines=True).split("\n")
    return "\n".join(f"  {line}" for line in lines)
