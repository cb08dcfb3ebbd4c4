"""What a restored copy must have: questions, each with bounds for the answer, or compared with the source."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from frepo_core.domain.durations import format_age
from frepo_core.domain.structs import struct

from .box.messages import Report

_NUMBERS = {"min", "max", "newest_within", "span"}


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


@struct
class Assertion:
    """A question in the language of the engine, and what its answer must be. What is None is not asserted.

    - `min`, `max`: bounds of a number.
    - `newest_within`: the answer is a time, at most so long before the version arrived.
    - `span`: how many percent the answer may differ from what the client has measured at the source under the same
      name; None: it is not compared.
    """

    question: str
    min: float | None = None
    max: float | None = None
    newest_within: timedelta | None = None
    span: float | None = None

    @classmethod
    def load(cls, values: Any) -> "Assertion | None":
        """Return an assertion from JSON; None for what is none, as in a journal that was changed."""
        is_form = isinstance(values, Mapping) and values.keys() <= {"question", *_NUMBERS}
        if not is_form or not isinstance(values.get("question"), str):
            return None
        if not all(_is_number(values[name]) for name in _NUMBERS & values.keys()):
            return None
        try:
            within = values.get("newest_within")
            return cls(**{**values, "newest_within": None if within is None else timedelta(seconds=within)})
        except (OverflowError, ValueError):
            return None

    def dump(self) -> dict[str, Any]:
        """Return values for JSON."""
        within = self.newest_within
        values = vars(self) | {"newest_within": None if within is None else within.total_seconds()}
        return {name: value for name, value in values.items() if value is not None}

    def problem(self, answer: float | None, *, arrived: datetime, measured: float | None) -> str:
        """Return what is wrong with an answer, in a few words; empty for nothing. `measured` is None for no value."""
        if answer is None:
            return "there is nothing"
        if self.min is not None and answer < self.min:
            return f"{answer:g} is less than {self.min:g}"
        if self.max is not None and answer > self.max:
            return f"{answer:g} is more than {self.max:g}"
        if self.newest_within is not None:
            try:
                age = arrived - datetime.fromtimestamp(answer, UTC)
            except (ValueError, OverflowError, OSError):
                return f"{answer:g} is no time"
            if age > self.newest_within:
                return f"the newest was {format_age(age)} old when the version arrived"
        if self.span is not None and measured is not None and abs(answer - measured) > abs(measured) * self.span / 100:
            return f"{answer:g} was restored, but the source had {measured:g}"
        return ""


@struct
class Asserted:
    """What became of the assertions: those that fail, those that cannot be decided, and tables that became empty."""

    failed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()


def judge_copy(
    report: Report,
    assertions: Mapping[str, Assertion],
    *,
    arrived: datetime,
    measured: Mapping[str, float],
    filled: list[str] | None,
) -> Asserted:
    """Compare a restored copy with what is asserted, and with the tables that had rows in the last good one."""
    return Asserted(
        failed=tuple(_failed(report, assertions, arrived, measured)),
        unknown=tuple(_unknown(report, assertions, measured)),
        emptied=tuple(name for name in filled or () if report.tables.get(name) is not True),
    )


def _failed(
    report: Report, assertions: Mapping[str, Assertion], arrived: datetime, measured: Mapping[str, float]
) -> Iterator[str]:
    for name, one in assertions.items():
        if name in report.numbers:
            problem = one.problem(report.numbers[name], arrived=arrived, measured=measured.get(name))
            if problem:
                yield f"{name}: {problem}"


def _unknown(report: Report, assertions: Mapping[str, Assertion], measured: Mapping[str, float]) -> Iterator[str]:
    for name, one in assertions.items():
        if name in report.wrong:
            yield f"{name}: {report.wrong[name]}"
        elif name not in report.numbers:
            yield f"{name}: the box gave no answer"
        elif one.span is not None and name not in measured:
            yield f"{name}: the client has sent no measurement of this name with the version"
