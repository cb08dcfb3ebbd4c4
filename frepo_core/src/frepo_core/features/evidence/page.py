"""Writes a report as one HTML page that prints: its style is in it, and it has no scripts."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from html import escape
from typing import Any

from frepo_core.domain.durations import format_age
from frepo_core.domain.sizes import readable_size

from .models import NightReport, Nights, Proven, Report, RestoreReport

_STYLE = """
body { font: 10pt/1.4 system-ui, sans-serif; margin: 2rem; color: #111; background: #fff }
h1 { font-size: 16pt; margin: 0 } h2 { font-size: 12pt; margin: 1.5rem 0 .3rem }
table { border-collapse: collapse; width: 100% } caption { text-align: left; color: #444 }
th, td { border-bottom: 1px solid #ccc; padding: .2rem .5rem .2rem 0; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere } thead { display: table-header-group } tr { break-inside: avoid }
.n { text-align: right; white-space: nowrap } .bad { font-weight: bold } .dim { color: #555 }
@page { size: A4 landscape; margin: 12mm } @media print { body { margin: 0; font-size: 8pt } }
"""
Cells = Sequence[Any]


def write_page(report: RestoreReport | NightReport) -> Iterator[bytes]:
    """Yield the parts of the page."""
    is_of_restores = isinstance(report, RestoreReport)
    title = "Restores and backups" if is_of_restores else "Nights by host"
    yield _text(
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{title}, {report.since:%Y-%m-%d} to {report.until:%Y-%m-%d}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{title}</h1>{_head(report)}\n"
    )
    for part in _restores(report) if isinstance(report, RestoreReport) else _nights(report):
        yield _text(f"{part}\n")
    yield _text("</body></html>\n")


def _text(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _head(report: Report) -> str:
    known = (
        f" Events are known since {_time(report.known_since)}; nothing before them is counted."
        if report.known_since and report.known_since > report.since
        else ""
    )
    return (
        f"<p>From {_time(report.since)} to {_time(report.until)}, made {_time(report.made_at)} by the installation "
        f"{escape(report.installation)}. All times are in UTC.{known}</p>"
    )


def _restores(report: RestoreReport) -> Iterator[str]:
    fleet = report.fleet
    whole = "cannot be said: a storage has no restore test" if fleet.seconds is None else _length(fleet.seconds)
    if fleet.storages:
        yield f"<h2>How long a restore of all would take</h2><p>All storages at the same time: {escape(whole)}.</p>"
        yield _table(
            ("Storage", "Collections", "Restored in a test", "Size", "Bytes a second", "Time"),
            (
                (one.storage, one.collections, one.proven, _size(one.size), _rate(one.rate), _length(one.seconds))
                for one in fleet.storages
            ),
        )
    yield "<h2>Collections</h2>"
    yield _table(
        ("Collection", "Newest good version", "Last proven restore", "It took", "Asserted", "Good of expected", "Gaps"),
        (
            (
                f"{one.name}\n{one.id}",
                "none" if one.version is None else f"v{one.version}, {_size(one.size)}, in {one.storage}",
                _tested(one.proven, one.outcome),
                _took(one.proven),
                _asserted(one.proven),
                _counted(one.nights, one.unexpected),
                _gaps(one.nights),
            )
            for one in report.collections
        ),
    )
    yield "<h2>Locks</h2>"
    yield _table(
        ("Storage", "What is known"),
        ((lock.storage, _lock(lock)) for lock in report.locks),
        nothing="No lock was tried: nothing is locked.",
    )
    yield "<h2>What people have released, deleted and given back</h2>"
    yield _table(
        ("Time", "What", "Who", "Collection", "Version", "Reason"),
        (
            (_time(act.at), act.kind, _who(act), act.collection_id or "", act.version_number or "", act.reason or "")
            for act in report.acts
        ),
        nothing="Nothing.",
    )


def _nights(report: Any) -> Iterator[str]:
    yield f"<p>{report.good} of {report.expected} expected backups have arrived and are good.</p>"
    yield _table(
        ("Host", "Known by", "Collections", "Good of expected", "Not expected", "Missed most"),
        (
            (host.host or "unknown", host.source, host.collections, f"{host.good} of {host.expected}")
            + (host.unexpected, ", ".join(host.worst))
            for host in report.hosts
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Cells], *, nothing: str = "There is none.") -> str:
    cells = ["".join(f"<td{_of(cell)}>{_lines(cell)}</td>" for cell in row) for row in rows]
    if not cells:
        return f"<p class='dim'>{nothing}</p>"
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _of(cell: Any) -> str:
    return " class='n'" if isinstance(cell, int) else ""


def _lines(cell: Any) -> str:
    return escape(str(cell)).replace("\n", "<br>")


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else ""


def _size(size: int | None) -> str:
    return "" if size is None else readable_size(size)


def _rate(rate: int | None) -> str:
    return "" if rate is None else f"{readable_size(rate)}/s"


def _length(seconds: float | None) -> str:
    if seconds is None:
        return "not known"
    return f"{seconds:g} seconds" if seconds < 120 else format_age(timedelta(seconds=seconds))


def _tested(proven: Proven | None, outcome: str | None) -> str:
    if proven is None:
        return "never" if outcome is None else f"never; the last test: {outcome}"
    version = "a version that was deleted since" if proven.version is None else f"v{proven.version}"
    last = "" if outcome in {None, "good"} else f"; the last test: {outcome}"
    return f"{_time(proven.at)}, {version}{last}"


def _took(proven: Proven | None) -> str:
    if proven is None or proven.seconds is None:
        return ""
    return f"{_length(proven.seconds)}, {_rate(proven.rate)}" if proven.rate else _length(proven.seconds)


def _asserted(proven: Proven | None) -> str:
    if proven is None or proven.asserted is None:
        return ""
    details = (f"{name}: {value}" for name, value in proven.asserted.items())
    return "\n".join([*([proven.message] if proven.message else []), *details])


def _counted(nights: Nights | None, unexpected: int) -> str:
    return f"{nights.good} of {nights.expected}" if nights else f"none expected; {unexpected} have arrived"


def _gaps(nights: Nights | None) -> str:
    gaps = nights.gaps if nights else []
    return "\n".join(f"{_time(gap.since)} to {_time(gap.until)}: {gap.missed} missed" for gap in gaps)


def _lock(lock: Any) -> str:
    if lock.broken:
        return f"NOT KEPT, tried {_time(lock.tried_at)}: {' and '.join(lock.broken)}"
    if not lock.retains:
        return "cannot keep locked versions: a lock holds against tokens, not against who can write to the storage"
    proven = f"refused to break a lock on {_time(lock.proven_at)}" if lock.proven_at else "was never proven"
    return f"{proven}; the last try found nothing out: {lock.not_known}" if lock.not_known else proven


def _who(act: Any) -> str:
    return f"{act.actor} ({act.actor_name})" if act.actor_name else str(act.actor)
