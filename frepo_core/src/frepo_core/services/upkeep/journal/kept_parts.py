"""Which catalogues and parts of the journal are kept in a storage."""

from collections.abc import Iterable

from .keys import JournalKey

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
