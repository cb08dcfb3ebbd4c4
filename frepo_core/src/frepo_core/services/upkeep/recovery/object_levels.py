"""Which of the listed objects can be decoded. It is a least fixed point: two that need each other cannot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import BinaryIO

from frepo_core.errors import FrepoError

from ...content.chains.chain_places import MOST_LEVELS
from ...content.encodings.format import Head, read_head
from ...content.seekable_content import seekable_content
from ...content.storages.backends import Backends
from .staging import Staging, StoredBlob

# From this level on, an object needs one in another storage.
ELSEWHERE = MOST_LEVELS + 1
NEVER = 2 * ELSEWHERE
_MOST_HEADS = 50_000


@dataclass(frozen=True, kw_only=True)
class FoundObject:
    """An object of the content with this digest. `head` is None if it is raw.

    `level` is the number of objects that it needs, one below the other; at least `ELSEWHERE` if one of them is in
    another storage, `NEVER` if it cannot be decoded.
    """

    digest: str
    place: StoredBlob
    head: Head | None = None
    level: int = NEVER

    @property
    def is_decodable(self) -> bool:
        """Whether its content can be read, as far as listings and heads say."""
        return self.level < NEVER


class ObjectLevels:
    """Finds the objects of contents in the storages that the staging lists, and what they need."""

    def __init__(self, backends: Backends, staging: Staging) -> None:
        self._backends = backends
        self._staging = staging
        self._heads: dict[StoredBlob, Head | None] = {}

    def find(self, sizes: Mapping[str, int | None]) -> dict[str, list[FoundObject]]:
        """Return the objects of contents, by their digests, those that need the fewest others first.

        `sizes` are those of the contents (bytes), as recorded; None: nothing is recorded. An object of that size is
        raw, whatever its bytes are; one of another size counts if it says that it is an encoding of this content.
        """
        found: dict[str, list[FoundObject]] = {}
        wanted = dict(sizes)
        for _ in range(MOST_LEVELS + 1):
            located = self._staging.locate(list(wanted))
            for digest, size in wanted.items():
                objects = (self._look(place, digest, size) for place in located.get(digest, ()))
                found[digest] = [one for one in objects if one is not None]
            bases = (one.head.base for digest in wanted for one in found[digest] if one.head and one.head.base)
            wanted = {base: None for base in bases if base not in found}
            if not wanted:
                break
        levels = _find_levels(found)
        return {
            digest: sorted((replace(one, level=levels.get(one.place, NEVER)) for one in found[digest]), key=_level)
            for digest in sizes
        }

    def find_bases(self, above: FoundObject) -> Sequence[FoundObject]:
        """Return the objects of the base of an object that it can be decoded with, the best first."""
        if above.head is None or above.head.base is None:
            return ()
        found = self.find({above.head.base: None})[above.head.base]
        usable = (one for one in found if one.level < above.level)
        storage = above.place.storage
        return sorted(usable, key=lambda one: (max(one.level, ELSEWHERE), one.place.storage != storage, one.level))

    def open_stored(self, place: StoredBlob) -> BinaryIO:
        """Open the bytes of an object, seekable."""
        return seekable_content(partial(self._backends.get(place.storage).open, place.key), place.size)

    def _look(self, place: StoredBlob, digest: str, size: int | None) -> FoundObject | None:
        if place.size == size:
            return FoundObject(digest=digest, place=place)
        head = self._read_head(place, digest)
        if size is None or (head is not None and head.size == size):
            return FoundObject(digest=digest, place=place, head=head)
        return None

    def _read_head(self, place: StoredBlob, digest: str) -> Head | None:
        """Return the head of an encoded object, None if it is not one, or cannot be read."""
        if place not in self._heads:
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            self._heads[place] = self._read(place, digest)
        return self._heads[place]

    def _read(self, place: StoredBlob, digest: str) -> Head | None:
        try:
            with self.open_stored(place) as stored:
                head = read_head(stored, digest)
        except (FrepoError, ValueError, OSError):
            return None
        return head if head.stored == place.size else None


def _level(found: FoundObject) -> int:
    return found.level


def _find_levels(found: Mapping[str, Sequence[FoundObject]]) -> dict[StoredBlob, int]:
    """Return the levels of all objects that can be decoded: first within each storage, then with bases elsewhere."""
    objects = list(chain.from_iterable(found.values()))
    levels = {one.place: 0 for one in objects if one.head is None or one.head.base is None}
    deltas = [one for one in objects if one.place not in levels]
    for level in range(1, NEVER):
        if not deltas:
            break
        is_elsewhere = level >= ELSEWHERE
        new = [one for one in deltas if _has_base(one, found, levels, is_elsewhere=is_elsewhere)]
        levels.update({one.place: level for one in new})
        deltas = [one for one in deltas if one.place not in levels]
    return levels


def _has_base(
    one: FoundObject,
    found: Mapping[str, Iterable[FoundObject]],
    levels: Mapping[StoredBlob, int],
    *,
    is_elsewhere: bool,
) -> bool:
    base = one.head and one.head.base
    return any(
        other.place in levels and (is_elsewhere or other.place.storage == one.place.storage)
        for other in found.get(base or "", ())
    )
