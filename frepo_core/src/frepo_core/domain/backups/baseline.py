"""The baseline of a collection: what its last good versions were like. Guards compare each new version with it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from statistics import median_low
from typing import Any, Self

from ..structs import struct
from .content_kinds import DATA, ENCRYPTED, LOG, ContentKind
from .size_trend import NIGHTS, decline_of
from .verdicts import Verdict

SIZES = 14
CONTENTS = 3
# Fewer sizes have no median to rely on.
FEWEST_SIZES = 3
PEAK = timedelta(days=60)
# A new format is accepted if it comes again after this time.
NEXT_NIGHT = timedelta(hours=12)
_COMPLETE = (Verdict.COMPLETE, Verdict.RESTORED)
_WHOLE = (Verdict.RESTORED, Verdict.COMPLETE, Verdict.WHOLE)


@struct
class Candidate:
    """The new format that a collection's versions may have from now on, and when it was first seen (UTC)."""

    family: str
    since: datetime


@struct
class Awaited:
    """What a version whose checks have not ended seems to be, its size in bytes, and when it arrived (UTC)."""

    content: ContentKind
    size: int
    at: datetime


@struct
class Baseline:
    """Facts about the last good versions of a collection. Sizes are in bytes, and lists have the newest one last.

    - `sizes`: the sizes of the last 14 versions. `contents`: the formats of the last 3.
    - `peaks`: the largest medians of the sizes within 60 days, each with its day, the largest first.
    - `nights`: the sizes of the last 30 days, each with its day, while a guard compares them.
    - `digest`: the SHA-256 of the newest version. `unchanged_nights`: on how many later days the same content has come
      again. `day`: the last of these days. `since`: the day on which it came first.
    - `candidate`: a new format that has come once.
    - `awaited`: the newest version whose checks have not ended, unless it is odd compared with the others.
    - `known_since`: when the first version of a format that names its program arrived.
    """

    sizes: tuple[int, ...] = ()
    peaks: tuple[tuple[date, int], ...] = ()
    contents: tuple[ContentKind, ...] = ()
    candidate: Candidate | None = None
    awaited: Awaited | None = None
    known_since: datetime | None = None
    nights: tuple[tuple[date, int], ...] = ()
    digest: str = ""
    day: date | None = None
    since: date | None = None
    unchanged_nights: int = 0

    @classmethod
    def load(cls, stored: Mapping[str, Any] | None) -> Self:
        """Return what `dump` has stored; an empty one for None."""
        if not stored:
            return cls()
        candidate, day, awaited = stored.get("candidate"), stored.get("day"), stored.get("awaited")
        known_since, since = stored.get("known_since"), stored.get("since")
        return cls(
            sizes=tuple(stored.get("sizes", ())),
            peaks=tuple((date.fromisoformat(on), size) for on, size in stored.get("peaks", ())),
            contents=tuple(map(_load_kind, stored.get("contents", ()))),
            candidate=Candidate(family=candidate[0], since=datetime.fromisoformat(candidate[1])) if candidate else None,
            awaited=_load_awaited(awaited) if awaited else None,
            known_since=datetime.fromisoformat(known_since) if known_since else None,
            nights=tuple((date.fromisoformat(on), size) for on, size in stored.get("nights", ())),
            digest=stored.get("digest", ""),
            day=date.fromisoformat(day) if day else None,
            since=date.fromisoformat(since) if since else None,
            unchanged_nights=stored.get("unchanged_nights", 0),
        )

    def dump(self) -> dict[str, Any]:
        """Return the baseline as JSON."""
        return {
            "sizes": [*self.sizes],
            "peaks": [[on.isoformat(), size] for on, size in self.peaks],
            "contents": [[[*one.kinds], one.database, one.verdict.value] for one in self.contents],
            "candidate": [self.candidate.family, self.candidate.since.isoformat()] if self.candidate else None,
            "awaited": _dump_awaited(self.awaited) if self.awaited else None,
            "known_since": self.known_since.isoformat() if self.known_since else None,
            **({"nights": [[on.isoformat(), size] for on, size in self.nights]} if self.nights else {}),
            "digest": self.digest,
            "day": self.day.isoformat() if self.day else None,
            "since": self.since.isoformat() if self.since else None,
            "unchanged_nights": self.unchanged_nights,
        }

    def after_good(self, size: int, content: ContentKind | None, at: datetime) -> Self:
        """Return the baseline after a good version; `content` is None if no check looked at it. `at` is UTC."""
        sizes = (*self.sizes, size)[-SIZES:]
        has_median = len(sizes) >= FEWEST_SIZES
        return replace(
            self,
            sizes=sizes,
            peaks=_peaks(self.peaks, median_low(sizes), at.date()) if has_median else self.peaks,
            contents=self.contents if content is None else (*self.contents, content)[-CONTENTS:],
            candidate=None if content else self.candidate,
            known_since=min(self.known_since or at, at) if content and content.name else self.known_since,
        )

    def after_digest(self, digest: str, at: datetime) -> Self:
        """Return the baseline after a version with this SHA-256: count the night if the content is the same again."""
        if digest != self.digest or self.day is None:
            return replace(self, digest=digest, day=at.date(), since=at.date(), unchanged_nights=0)
        nights = self.unchanged_nights + (at.date() > self.day)
        return replace(self, day=max(self.day, at.date()), unchanged_nights=nights)

    def after_night(self, size: int, at: datetime) -> Self:
        """Return the baseline with the size of one more night, for the trend. Of each day, the last size counts."""
        others = [one for one in self.nights if one[0] != at.date()]
        return replace(self, nights=tuple(sorted([*others, (at.date(), size)])[-NIGHTS:]))

    def decline(self, size: int, at: datetime) -> int:
        """Return by how many percent the sizes of the last nights and this one decline, see `decline_of`."""
        return decline_of([one for _, one in self.after_night(size, at).nights])

    def without_sizes(self) -> Self:
        """Return a baseline whose sizes begin anew, because a person has changed the guards about sizes."""
        return replace(self, sizes=(), peaks=())

    def without_nights(self) -> Self:
        """Return a baseline whose trend begins anew, because a person has changed the guard about it."""
        return replace(self, nights=())

    def days_unchanged(self, digest: str, at: datetime) -> int:
        """Return how many days ago the content with this SHA-256 came first; 0 for another one."""
        if not digest or digest != self.digest or self.day is None:
            return 0
        since = self.since or self.day - timedelta(days=self.unchanged_nights)
        return max(0, (at.date() - since).days)

    def median(self) -> int | None:
        """Return the median of the last sizes; None for less than three."""
        return median_low(self.sizes) if len(self.sizes) >= FEWEST_SIZES else None

    def largest_median(self, at: datetime) -> int:
        """Return the largest median of the 60 days before `at`; 0 if there is none."""
        recent = [size for on, size in self.peaks if at.date() - on <= PEAK]
        return max(recent, default=0) if len(self.sizes) >= FEWEST_SIZES else 0

    def find_oddity(self, content: ContentKind, at: datetime) -> str:
        """Return why a content is of another kind than the last three, as a sentence; empty if it is not.

        A change between archives, or to a recognised encryption, is not odd. A new format is accepted when it comes
        again on another night, if it is at least `whole`.
        """
        if not self._is_recognised:
            return ""
        last = self.contents[-1]
        if not content.name:
            return f"Its content is not recognised ({content}), the last versions were {last}"
        if content.family == ENCRYPTED:
            return ""
        if content.family not in {one.family for one in self.contents}:
            return "" if self._is_accepted(content, at) else f"It is {content}, the last versions were {last}"
        databases = [one.database for one in self.contents if one.database]
        if content.database and databases and content.database not in databases:
            return f"It is of the database {content.database}, the last versions were of {databases[-1]}"
        if content.verdict is Verdict.UNCHECKED and all(one.verdict in _COMPLETE for one in self.contents):
            return "It could not be checked, the last versions were complete"
        return ""

    def after_pending(self, size: int, content: ContentKind | None, at: datetime) -> Self:
        """Return the baseline after a version whose checks have not ended. `content` is what it seems to be.

        One that would be odd is not noted, or it would stand for the one before, with which it has to be compared.
        """
        if content is None or self.find_unrecognised(content, size):
            return self
        return replace(self, awaited=Awaited(content=content, size=size, at=at))

    def before(self, at: datetime) -> Self:
        """Return what a version that arrived at `at` is compared with if its checks have ended late.

        A version is not compared with itself, nor with a later one that was the first to name its program.
        """
        is_earlier = self.known_since is not None and at < self.known_since
        contents = tuple(one for one in self.contents if not (is_earlier and one.name))
        awaited = self.awaited if self.awaited and self.awaited.at < at else None
        return replace(self, awaited=awaited, contents=contents)

    def find_unrecognised(self, content: ContentKind, size: int) -> str:
        """Return why a content of `size` bytes is odd if it is no dump and no archive, as a sentence; empty if not.

        It is if one of the last versions was a dump or an archive. After versions of unknown formats, a message is odd,
        a text after what was none, what is not compressed after what was, and a log of less than half of their size.
        """
        known = (self.awaited.content, *self.contents) if self.awaited else self.contents
        if not known or content.kinds == known[-1].kinds or content.name:
            return ""
        recognised = [one for one in known if one.name]
        if recognised:
            return f"{_describe(content)}, the last versions were {recognised[-1]}"
        if content.is_message and not any(one.is_message for one in known):
            return f"{_describe(content)}, the last versions were {known[-1] if known[-1].formats else 'not'}"
        is_usual = len(known) >= CONTENTS  # one may have been compressed to try it
        if is_usual and not content.formats and all(one.formats and not one.is_message for one in known):
            return f"{_describe(content)}, the last versions were {known[-1]}"
        if content.is_text and all(one.look == DATA for one in known):
            return "It is a text, the last versions were none"
        is_new_log = content.look == LOG and not any(one.look == LOG or one.is_message for one in known)
        sizes = (*self.sizes, self.awaited.size) if self.awaited else self.sizes
        if is_new_log and 2 * size < min(sizes, default=0):
            return "A program reports an error in it, and it is less than half as large as the last versions"
        return ""

    def find_change(self, content: ContentKind) -> str:
        """Return how the formats differ from those of the last versions, as a sentence; empty if they do not."""
        known = {one.formats for one in self.contents}
        return "" if not known or content.formats in known else f"It is {content}, before it was {self.contents[-1]}"

    def after_oddity(self, content: ContentKind, at: datetime) -> Self:
        """Return the baseline after a version of an odd kind: note a new format, which may come again."""
        if not content.name or content.verdict not in _WHOLE:
            return replace(self, candidate=None)
        if self.candidate and self.candidate.family == content.family:
            return self
        return replace(self, candidate=Candidate(family=content.family, since=at))

    @property
    def _is_recognised(self) -> bool:
        """Whether the last three versions were of formats that say what they are."""
        return len(self.contents) == CONTENTS and all(one.name for one in self.contents)

    def _is_accepted(self, content: ContentKind, at: datetime) -> bool:
        candidate = self.candidate
        is_known = candidate is not None and candidate.family == content.family and at - candidate.since >= NEXT_NIGHT
        return is_known and content.verdict in _WHOLE


def _peaks(peaks: tuple[tuple[date, int], ...], median: int, day: date) -> tuple[tuple[date, int], ...]:
    """Return the medians of 60 days that are larger than all later ones, so that the largest is the first."""
    kept = [(on, size) for on, size in peaks if size > median and day - on <= PEAK]
    return tuple(kept) if kept and kept[-1][0] == day else (*kept, (day, median))


def _describe(content: ContentKind) -> str:
    if not content.is_message:
        return f"Its content is not recognised ({content})"
    return "It is a page of HTML" if content.kinds[-1] == "html" else "It is a message, or one byte again and again"


def _dump_awaited(awaited: Awaited) -> list[Any]:
    content = awaited.content
    return [[*content.kinds], content.database, content.verdict.value, awaited.size, awaited.at.isoformat()]


def _load_awaited(stored: Any) -> Awaited | None:
    """Return what `_dump_awaited` has stored; None for what an earlier version did, without a size and a time."""
    if len(stored) < 5:
        return None
    *kind, size, at = stored
    return Awaited(content=_load_kind(kind), size=size, at=datetime.fromisoformat(at))


def _load_kind(stored: Any) -> ContentKind:
    kinds, database, verdict = stored
    return ContentKind(kinds=tuple(kinds), database=database, verdict=Verdict(verdict))
