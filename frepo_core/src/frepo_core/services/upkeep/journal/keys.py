"""The keys of the journal and of the catalogues in a storage, in the order in which they were written."""

import re
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
