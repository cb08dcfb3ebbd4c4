"""What an archive lacks, and from when until when it can be restored. No side effects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

from .bases import Base
from .names import segment_name


@dataclass(frozen=True, kw_only=True)
class Segments:
    """The segments of an archive: when each arrived, by timeline and number, and where timelines begin.

    `parents` maps a timeline to the one from which it comes, and the place of the switch in bytes.
    """

    size: int
    arrived: Mapping[int, Mapping[int, datetime]]
    parents: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def timeline(self) -> int:
        """The newest timeline; 0 if there is no segment."""
        return max(self.arrived, default=0)


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Segments that are missing, by number, both ends included."""

    timeline: int
    first: int
    last: int

    def text(self, size: int) -> str:
        """Return the names of the first and the last one."""
        return f"{segment_name(self.timeline, self.first, size)} to {segment_name(self.timeline, self.last, size)}"


@dataclass(frozen=True, kw_only=True)
class Window:
    """Each moment in it can be restored, from the base backup with the number `base`."""

    base: int
    since: datetime
    until: datetime


def lineage(segments: Segments) -> list[tuple[int, int]]:
    """Return the timelines that lead to the newest one, and with which segment each begins, the oldest first."""
    found: list[tuple[int, int]] = []
    timeline: int = segments.timeline
    while timeline in segments.parents and len(found) < len(segments.parents):
        parent, switch = segments.parents[timeline]
        found.append((timeline, switch // segments.size))
        timeline = parent
    return [(timeline, 0), *reversed(found)] if timeline else []


def unknown_parents(segments: Segments) -> list[int]:
    """Return the timeline whose history is missing, so that nobody knows where it begins."""
    path = lineage(segments)
    return [path[0][0]] if path and path[0][0] > 1 else []


def expected_timeline(path: Sequence[tuple[int, int]], index: int) -> int:
    """Return the timeline from which PostgreSQL takes a segment."""
    return next((timeline for timeline, begin in reversed(path) if begin <= index), path[0][0])


def find_gaps(segments: Segments, since: int | None) -> list[Gap]:
    """Return what is missing from the segment `since` on, None: from the first one, up to the newest one."""
    path = lineage(segments)
    have = _on_path(segments, path)
    if not have:
        return []
    gaps: list[Gap] = []
    first = since if since is not None else min(have)
    for before, after in pairwise([first - 1, *sorted(one for one in have if one >= first)]):
        if after - before > 1:
            gaps += _split(path, before + 1, after - 1)
    return gaps


def find_windows(segments: Segments, bases: Iterable[Base]) -> list[Window]:
    """Return from when until when can be restored, by one window for each gap between, the newest first."""
    path = lineage(segments)
    have = _on_path(segments, path)
    windows: list[Window] = []
    ends: set[int] = set()
    for base in sorted((one for one in bases if one.is_usable), key=lambda one: one.start):
        index = base.start // segments.size
        if not path or expected_timeline(path, index) != base.timeline:
            continue
        last = index - 1
        while last + 1 in have:
            last += 1
        # A stop at the first byte of a segment needs only the one before.
        if last < (base.stop - 1) // segments.size or last in ends:
            continue
        ends.add(last)
        windows.append(Window(base=base.number, since=base.at, until=max(base.at, have[last])))
    return windows[::-1]


def choose_base(segments: Segments, bases: Iterable[Base], at: datetime | None) -> Base | None:
    """Return the newest base backup from which a moment can be reached; None if there is none."""
    path = lineage(segments)
    have = _on_path(segments, path)
    for base in sorted((one for one in bases if one.is_usable), key=lambda one: one.start, reverse=True):
        first, last = base.start // segments.size, (base.stop - 1) // segments.size
        is_reached = path and expected_timeline(path, first) == base.timeline
        if is_reached and (at is None or base.at <= at) and all(one in have for one in range(first, last + 1)):
            return base
    return None


def needless(segments: Segments, bases: Sequence[Base], keep_days: int, now: datetime) -> list[tuple[int, int]]:
    """Return the ranges of segments that no base backup needs, by number, both ends included.

    `bases` are all that can still be restored, in the trash or not. Without one, everything is needed.
    """
    if not bases:
        return []
    needed = [(one.start // segments.size, max(one.start, one.stop - 1) // segments.size) for one in bases]
    since = min(first for first, _ in needed)
    if keep_days:
        moment = now - timedelta(days=keep_days)
        older = [one.start for one in bases if one.at <= moment and one.is_usable]
        since = max(older) // segments.size if older else since
    ranges, begin = [], 0
    for first, last in sorted(needed):
        if first >= since:
            break
        if first > begin:
            ranges.append((begin, first - 1))
        begin = max(begin, last + 1)
    if since > begin:
        ranges.append((begin, since - 1))
    return ranges


def _on_path(segments: Segments, path: Sequence[tuple[int, int]]) -> dict[int, datetime]:
    """Return when each segment arrived that PostgreSQL takes on its way to the newest timeline."""
    found: dict[int, datetime] = {}
    for place, (timeline, begin) in enumerate(path, start=1):
        end = path[place][1] if place < len(path) else None
        arrived = segments.arrived.get(timeline, {})
        found |= {one: at for one, at in arrived.items() if begin <= one and (end is None or one < end)}
    return found


def _split(path: Sequence[tuple[int, int]], first: int, last: int) -> Iterator[Gap]:
    """Yield a gap for each timeline that it is on."""
    ends = [begin for _, begin in path if first < begin <= last]
    for begin, end in zip([first, *ends], [*(one - 1 for one in ends), last], strict=True):
        yield Gap(timeline=expected_timeline(path, begin), first=begin, last=end)
