"""Columns that look different to people and to programs: times, durations, sizes, and reports of several values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from cliff.columns import FormattableColumn

from frepo_core.domain.durations import format_duration, parse_any_duration
from frepo_core.domain.sizes import readable_size


class Expected(FormattableColumn[str | None]):
    """How often a backup is expected: a duration of ISO 8601 for programs, and as `1d` for people; or cron."""

    def human_readable(self) -> str:
        """Return the duration in the form of all other ones. None is empty."""
        text = self._value or ""
        try:
            return format_duration(parse_any_duration(text)) or ""
        except ValueError:  # cron
            return text


class Moment(FormattableColumn[datetime | None]):
    """A time in UTC: ISO 8601 for programs, to the second for people. None is null, and empty for people."""

    def human_readable(self) -> str:
        """Format the time for people."""
        return f"{self._value:%Y-%m-%d %H:%M:%S}" if self._value else ""

    def machine_readable(self) -> Any:
        """Return the time as ISO 8601."""
        return self._value.isoformat() if self._value else None


class Report(FormattableColumn[Mapping[str, Any]]):
    """Named values: an object for programs, `name value` pairs for people."""

    def human_readable(self) -> str:
        """Format the values for people."""
        return ", ".join(f"{name} {value}" for name, value in self._value.items())


class Size(FormattableColumn[int]):
    """A size in bytes: readable in a table, a number in other formats."""

    def human_readable(self) -> str:
        """Format the size for people."""
        return readable_size(self._value)


class Words(FormattableColumn[Sequence[str]]):
    """Several words: a list in JSON and YAML, separated by commas elsewhere."""

    def human_readable(self) -> str:
        """Join the words."""
        return ", ".join(self._value)

    def machine_readable(self) -> Any:
        """Return the list."""
        return list(self._value)
