"""What a recovery notes in the database before it begins, so that it can be repeated if it was interrupted."""

import json
from dataclasses import asdict
from typing import Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db.models import Installation
from frepo_core.domain.structs import struct
from frepo_core.services.base.installation import RECOVERY
from frepo_core.services.upkeep.journal.keys import JournalKey

from .sources import Source


@struct
class Interruption:
    """The storage and the catalogue that a recovery reads, and epoch and number of the last part of the journal."""

    storage: str
    catalogue: str
    last: list[int]

    @classmethod
    def at(cls, source: Source) -> Self:
        """Return the note about a recovery from this source."""
        last = [source.last.epoch, source.last.number]
        return cls(storage=source.storage, catalogue=source.catalogue.text, last=last)

    def pack(self) -> str:
        """Return the note as a text for the table `installation`."""
        return json.dumps(asdict(self))

    def has_seen(self, key: JournalKey) -> bool:
        """Return whether the recovery reads this file: a repetition reads nothing that is younger."""
        return key.text == self.catalogue if key.made_at else [*key.place] <= self.last


def read_interruption(session: Session) -> Interruption | None:
    """Return the note of a recovery that has not ended, or None."""
    value = session.scalar(select(Installation.value).where(Installation.name == RECOVERY))
    return Interruption(**json.loads(value)) if value else None
