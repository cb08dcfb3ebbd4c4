"""The state of an archive: read by the job, kept for the endpoint, the console and the metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from frepo_core.plugins import NotFoundError, StoredVersion

from .archive import LABEL, PARENT, SWITCH, SYSTEM, WAITING, WRITTEN, Archive
from .bases import Base, Bases
from .continuity import Gap, Segments, Window, find_gaps, find_windows, unknown_parents
from .names import WalName, parse_name, segment_name

_SHOWN = 100
# Until the first segment says more, that is the size that PostgreSQL has.
_USUAL_SIZE = 16 << 20


@dataclass(frozen=True, kw_only=True)
class WalFile:
    """A file of an archive: the number of its version, and what its name says."""

    number: int
    name: WalName


@dataclass(frozen=True, kw_only=True)
class Survey:
    """Everything that is in an archive, and its base backups.

    `bases` has those in the trash, too. Segments may be deleted if all of them are known and of this cluster.
    """

    files: Sequence[WalFile]
    segments: Segments
    newest: StoredVersion | None
    system: str | None
    bases: Sequence[Base]
    may_delete: bool
    problems: Sequence[str]

    @property
    def own_bases(self) -> list[Base]:
        """The base backups of the cluster whose segments these are."""
        return [one for one in self.bases if self.system in {None, str(one.system)}]

    @property
    def oldest_needed(self) -> int | None:
        """The segment with which the oldest base backup begins, None without one."""
        usable = [one.start for one in self.own_bases if one.is_usable]
        return min(usable) // self.segments.size if usable else None

    @property
    def gaps(self) -> list[Gap]:
        """What is missing since the oldest base backup."""
        return find_gaps(self.segments, self.oldest_needed)

    @property
    def windows(self) -> list[Window]:
        """From when until when can be restored."""
        return find_windows(self.segments, self.own_bases)


def survey(archive: Archive, *, may_read: bool = True) -> Survey:
    """Read an archive and its base backups; with `may_read`, also the contents of those that are new."""
    files: list[WalFile] = []
    arrived: dict[int, dict[int, datetime]] = {}
    parents: dict[int, tuple[int, int]] = {}
    segments: list[tuple[WalName, StoredVersion]] = []
    for version in archive.versions():
        if (name := parse_name(version.labels.get(LABEL, ""))) is None:
            continue
        files.append(WalFile(number=version.number, name=name))
        if name.kind == "segment":
            segments.append((name, version))
        elif name.kind == "history" and PARENT in version.labels:
            parents[name.timeline] = (int(version.labels[PARENT]), int(version.labels[SWITCH]))
    size = segments[0][1].size if segments else _USUAL_SIZE
    for name, version in segments:
        arrived.setdefault(name.timeline, {})[name.index(size)] = _written(version)
    system = segments[0][1].labels.get(SYSTEM) if segments else None
    bases, is_complete, problems = _bases_of(archive, may_read=may_read)
    is_own = all(str(one.system) == system for one in bases)
    return Survey(
        files=files,
        segments=Segments(size=size, arrived=arrived, parents=parents),
        newest=segments[0][1] if segments else None,
        system=system,
        bases=bases,
        may_delete=is_complete and is_own,
        problems=problems,
    )


def _written(version: StoredVersion) -> datetime:
    """Return until when a segment reaches: one that has waited arrives long after its last transaction."""
    if text := version.labels.get(WRITTEN):
        return min(version.created_at, datetime.fromtimestamp(int(text), UTC))
    return version.created_at


def _bases_of(archive: Archive, *, may_read: bool) -> tuple[list[Base], bool, list[str]]:
    if not archive.options.base:
        return [], False, ["no collection of base backups is named; set the option base of its strategy"]
    found = Bases(archive.context, archive.options.base, may_read=may_read)
    try:
        bases = found.all()
    except NotFoundError:
        return [], False, ["the collection of its base backups does not exist"]
    is_restorable = found.unknown or any(one.is_usable for one in bases)
    problems = [] if is_restorable else ["there is no base backup, so nothing can be restored"]
    return bases, not found.unknown, problems + found.wrong[:2]


def find_problems(found: Survey, max_waiting: int) -> dict[str, str | None]:
    """Return what is wrong, by the names of the problems; None for what is not."""
    missing = [f"{one.text(found.segments.size)}" for one in found.gaps]
    count = sum(one.last - one.first + 1 for one in found.gaps)
    plural = "segments are" if count > 1 else "segment is"
    gaps = f"{count} {plural} missing: {', '.join(missing[:2])}" if count else None
    if gaps is None and (lost := unknown_parents(found.segments)):
        gaps = f"the history of timeline {lost[0]} is missing"
    other = sorted({str(one.system) for one in found.bases if one.is_usable} - {found.system})
    foreign = f"base backups are of another cluster, {other[0]}" if other and found.system else None
    waiting = waiting_of(found)
    backlog = f"{waiting} segments wait on the primary" if waiting is not None and waiting > max_waiting else None
    return {
        "gaps": gaps,
        "no_base": "; ".join(found.problems) or None,
        "foreign_base": foreign,
        "backlog": backlog,
    }


def waiting_of(found: Survey) -> int | None:
    """Return how many segments waited on the primary when the newest one was sent."""
    text = found.newest.labels.get(WAITING) if found.newest else None
    return int(text) if text else None


def describe(found: Survey, problems: dict[str, str | None]) -> dict[str, Any]:
    """Return the state as JSON."""
    size = found.segments.size
    return {
        "files": len(found.files),
        "newest": found.newest.labels[LABEL] if found.newest else None,
        "newest_at": found.newest.created_at.isoformat() if found.newest else None,
        "waiting": waiting_of(found),
        "system": found.system,
        "timeline": found.segments.timeline or None,
        "missing": list(_missing(found.gaps, size))[:_SHOWN],
        "restorable": [
            {"base": one.base, "since": one.since.isoformat(), "until": one.until.isoformat()}
            for one in found.windows[:_SHOWN]
        ],
        "problems": [message for message in problems.values() if message],
    }


def _missing(gaps: Sequence[Gap], size: int) -> Iterator[dict[str, Any]]:
    for gap in gaps:
        first, last = (segment_name(gap.timeline, index, size) for index in (gap.first, gap.last))
        yield {"first": first, "last": last, "count": gap.last - gap.first + 1}


def read_status(archive: Archive) -> dict[str, Any]:
    """Read the state of an archive now, without a report."""
    found = survey(archive, may_read=False)
    return describe(found, find_problems(found, archive.context.settings.max_waiting))


def store_status(archive: Archive, state: dict[str, Any]) -> None:
    """Keep a state for the metrics."""
    kept = {"name": archive.collection.name, "at": datetime.now(UTC).isoformat(), **state}
    archive.context.service.store.put(f"status/{archive.collection.id}", kept)
