"""Columns that look different to people and to programs: times, durations, sizes, and reports of several values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from cliff.columns import FormattableColumn

from frepo_core.domain.backups.holds import Hold
from frepo_core.domain.durations import format_duration, parse_any_duration
from frepo_core.domain.sizes import readable_size

from .tables import readable

NO_LIMIT = "no limit"


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


class Size(FormattableColumn[int]):
    """A size in bytes: readable in a table, a number in other formats."""

    def human_readable(self) -> str:
        """Format the size for people."""
        return readable_size(self._value)


class SizeLimit(Size):
    """A limit in bytes; 0 means no limit. People see words, programs a number."""

    def human_readable(self) -> str:
        """Format the limit for people."""
        return super().human_readable() if self._value else NO_LIMIT


class CountLimit(FormattableColumn[int]):
    """A maximum number; 0 means no limit. People see words, programs a number."""

    def human_readable(self) -> str:
        """Format the limit for people."""
        return str(self._value or NO_LIMIT)


class Report(FormattableColumn[Mapping[str, Any]]):
    """Named values, such as what a job found: an object for programs, `name value` pairs for people."""

    # The names of values in bytes, besides those that end with `_size`.
    sizes: ClassVar[frozenset[str]] = frozenset({"size"})

    def cells(self) -> dict[str, Any]:
        """Return a cell for each value."""
        return {name: self._cell(name, value) for name, value in self._value.items()}

    def human_readable(self) -> str:
        """Format the values for people. Empty ones are left out."""
        texts = {name: str(readable(cell)) for name, cell in self.cells().items()}
        return ", ".join(f"{name} {text}" for name, text in texts.items() if text)

    def _cell(self, name: str, value: Any) -> Any:
        if (name in self.sizes or name.endswith("_size")) and type(value) is int:
            return Size(value)
        return Report(value) if isinstance(value, Mapping) else value


class Words(FormattableColumn[Sequence[str]]):
    """Several words: a list in JSON and YAML, separated by commas elsewhere."""

    def human_readable(self) -> str:
        """Join the words."""
        return ", ".join(self._value)

    def machine_readable(self) -> Any:
        """Return the list."""
        return list(self._value)


def outcome_of(outcome: str | None, summary: Mapping[str, Any] | None) -> str:
    """Return the outcome of a run of a job for people: it tells what ended well from what waits, or is tried again."""
    found = summary or {}
    if outcome == "good" and (found.get("problem") or found.get("waits")):
        return "problem" if found.get("problem") else "waiting"
    return str(outcome or "running")  # a plain text: YAML refuses members of an enumeration


def held_fields(hold: Hold | None) -> dict[str, Any]:
    """Return the fields of a collection that say since when it is on hold, by whom and why; empty without a hold."""
    since, by, reason = (hold.since, hold.by, hold.reason) if hold else (None, "", "")
    return {"held_since": Moment(since), "held_by": by, "hold_reason": reason}
