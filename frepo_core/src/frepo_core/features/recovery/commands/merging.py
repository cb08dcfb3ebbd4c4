"""Reads back into a database what it lacks, for `recover --merge` and `recover --deleted-since`."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from frepo_core.cli.progress import ProgressLine
from frepo_core.domain.durations import parse_duration
from frepo_core.domain.texts.counts import counted
from frepo_core.errors import FieldsError

from ..feature import RecoveryServices

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

SHOWN = 20


def parse_time(text: str, now: datetime) -> datetime:
    """Return the time of a text: a length of time before now, or a time in UTC. Raises `FieldsError`."""
    try:
        return now - parse_duration(text)
    except ValueError:
        pass
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        problem = f"{text!r} is neither a length of time such as 7d nor a time"
        raise FieldsError({"--deleted-since": [problem]}) from None
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def merge_all(
    services: "Services",
    storages: Sequence[str],
    at: datetime | None,
    say: Callable[[str], None],
    *,
    unverified: bool = False,
) -> int:
    """Read back what is lost by the journal of each storage; return 1 if contents are missing.

    One that has nothing to read back is passed over. Raises its `RecoveryError` if none has.
    """
    from ..sources import RecoveryError

    statuses, errors = list[int](), list[RecoveryError]()
    for storage in dict.fromkeys(storages):
        try:
            statuses.append(merge(services, storage, at, say, unverified=unverified))
        except RecoveryError as error:
            errors.append(error)
    if not statuses:
        raise errors[0]
    for passed_over in errors:
        say(f"Note: {passed_over.message}")
    return max(statuses)


def merge(
    services: "Services", storage: str, at: datetime | None, say: Callable[[str], None], *, unverified: bool = False
) -> int:
    """Read back what is lost, and say what was done; return 1 if contents are missing."""
    with (
        ProgressLine("recover") as progress,
        services.feature(RecoveryServices).merge(storage, progress, at=at, unverified=unverified) as merging,
    ):
        source = merging.find()
        parts = counted(source.parts, "part")
        reaches = f"{source.reaches:%Y-%m-%d %H:%M:%S} UTC"
        say(f"{source.storage}, {source.catalogue.text} and {parts} of the journal: up to {reaches}")
        for problem in source.problems:
            say(f"Note: {problem}")
        report = merging.run(source, by=None)
    read_back = f"{counted(report.collections, 'collection')}, {counted(report.versions, 'version')}"
    say(f"Read back: {read_back}, {counted(report.trash, 'version')} in the trash")
    if report.holds or report.choices:
        say(f"Also {counted(report.holds, 'hold')} and {counted(report.choices, 'choice')} of restore tests")
    for problem in report.unusable:
        say(f"Note: it cannot be read back: {problem}")
    if report.found_elsewhere:
        elsewhere = counted(report.found_elsewhere, "content")
        say(f"In another place than the database knows, and read there: {elsewhere}")
    if report.in_trash:
        say(f"In the trash for 30 days, {counted(len(report.in_trash), 'version')}:")
        for collection, number in report.in_trash[:SHOWN]:
            say(f"  frepo backup:restore-version {collection} v{number}")
        if len(report.in_trash) > SHOWN:
            say("  ...")
    for collection, number in report.missing:
        say(f"Missing: version {number} of the collection {collection}")
    for name in report.missing_files:
        say(f"Missing: the file {name}")
    return int(bool(report.missing or report.missing_files))
