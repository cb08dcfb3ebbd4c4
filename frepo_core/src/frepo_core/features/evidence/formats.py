"""Writes reports as JSON, as CSV, and as a page that prints."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from frepo_core.domain.texts.foreign_text import escape_controls, spreadsheet_cell

from .models import HostNights, NightReport, Report, RestoredCollection, RestoreReport
from .page import write_page


def write_json(report: Report) -> Iterator[bytes]:
    """Yield a report as JSON, as the API answers it."""
    text = json.dumps(report.model_dump(mode="json"), ensure_ascii=False, indent=1)
    yield f"{text}\n".encode()


def write_csv(report: RestoreReport | NightReport) -> Iterator[bytes]:
    """Yield the lines of a CSV file (RFC 4180, UTF-8) with a head: one line for each collection, or each host."""
    is_of_restores = isinstance(report, RestoreReport)
    yield _line(_RESTORE_HEAD if is_of_restores else _NIGHT_HEAD)
    for row in _rows(report):
        yield _line([_cell(value) for value in row])


def _rows(report: RestoreReport | NightReport) -> Iterator[Sequence[Any]]:
    if isinstance(report, RestoreReport):
        return map(_restore_row, report.collections)
    return map(_night_row, report.hosts)


# By the word that `--format` and the endings of the API's paths have; with the media type.
FORMATS: Mapping[str, tuple[Callable[[Any], Iterator[bytes]], str]] = {
    "html": (write_page, "text/html; charset=utf-8"),
    "csv": (write_csv, "text/csv"),
    "json": (write_json, "application/json"),
}


_RESTORE_HEAD = (
    *("collection", "name", "labels", "storage", "version", "size", "proven_at", "proven_version", "seconds"),
    *("bytes_per_second", "asserted", "tried_at", "outcome", "expected_every", "nights_good", "nights_expected"),
    *("nights_missed_in_gaps", "unexpected", "locked_seconds"),
)
_NIGHT_HEAD = ("host", "source", "collections", "nights_good", "nights_expected", "unexpected", "worst")


def _restore_row(one: RestoredCollection) -> Sequence[Any]:
    proven, nights = one.proven, one.nights
    tested = (proven.at, proven.version, proven.seconds, proven.rate, proven.asserted) if proven else (None,) * 5
    counted = (nights.good, nights.expected, _gaps(nights.gaps)) if nights else (None,) * 3
    about = (one.id, one.name, " ".join(one.labels), one.storage, one.version, one.size)
    return (*about, *tested, one.tried_at, one.outcome, one.expected_every, *counted, one.unexpected, one.locked)


def _gaps(gaps: Sequence[Any]) -> str:
    return "; ".join(f"{_time(gap.since)}/{_time(gap.until)}: {gap.missed}" for gap in gaps)


def _night_row(host: HostNights) -> Sequence[Any]:
    about = (host.host, host.source, host.collections, host.good, host.expected, host.unexpected)
    return (*about, ", ".join(host.worst))


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return _time(value)
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
    return spreadsheet_cell(escape_controls(text) if isinstance(text, str) else text)


def _time(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _line(values: Sequence[Any]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(values)
    return line.getvalue().encode()
