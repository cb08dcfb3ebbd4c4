"""The keys of the journal and of the catalogues in a storage, in the order in which they were written."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

JOURNAL, CATALOGUE = "journal", "catalogue"
_TIME = "%Y%m%dT%H%M%SZ"
_KEY = re.compile(r"(?:journal/|catalogue/([0-9]{8}T[0-9]{6}Z)-)([0-9a-f]{8})-([0-9a-f]{8})")


@dataclass(frozen=True, kw_only=True, order=True)
class JournalKey:
    """A part of the journal, or a catalogue: `made_at` (UTC) is None for a part of the journal.

    `epoch` is that of the owner's mark in the storage. `number` is the number of the part, or, for a catalogue, of the
    last part before it: what a catalogue lacks is in the parts with higher numbers.
    """

    epoch: int
    number: int
    made_at: datetime | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the key, or None if the text has another form or names an impossible time."""
        match = _KEY.fullmatch(text)
        if not match:
            return None
        try:
            made_at = datetime.strptime(match[1], _TIME).replace(tzinfo=UTC) if match[1] else None
        except ValueError:
            return None
        return cls(epoch=int(match[2], 16), number=int(match[3], 16), made_at=made_at)

    @property
    def text(self) -> str:
        """The key as the storage knows it."""
        place = f"{self.epoch:08x}-{self.number:08x}"
        return f"{CATALOGUE}/{self.made_at:{_TIME}}-{place}" if self.made_at else f"{JOURNAL}/{place}"

    @property
    def place(self) -> tuple[int, int]:
        """The place in the order of writing, which does not depend on a clock."""
        return self.epoch, self.number


NIGHTS, MONTHS = 14, 6


def find_expired(texts: Iterable[str]) -> list[str]:
    """Return the keys of what is not kept: all but the newest catalogues of 14 days and of 6 months.

    The parts of the journal since the oldest one of the 14 are kept. It does not depend on the present time, so
    nothing expires while no new catalogue is written.
    """
    keys = [key for text in texts if (key := JournalKey.parse(text))]
    catalogues = sorted((key for key in keys if key.made_at), key=lambda key: key.place, reverse=True)
    nights: dict[str, JournalKey] = {}
    months: dict[str, JournalKey] = {}
    for key in catalogues:
        nights.setdefault(f"{key.made_at:%Y-%m-%d}", key)
        months.setdefault(f"{key.made_at:%Y-%m}", key)
    recent = list(nights.values())[:NIGHTS]
    kept = {*recent, *list(months.values())[:MONTHS]}
    first = min((key.place for key in recent), default=(0, 0))
    old = [key for key in keys if (key not in kept if key.made_at else key.place < first)]
    return [key.text for key in old]
