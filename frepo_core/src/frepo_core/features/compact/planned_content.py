"""What a plan knows of a content: how it is stored and may be, who has it, how long it stays, and how good it is."""

from datetime import datetime
from enum import Enum, IntEnum, StrEnum

from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.structs import struct

from .likeness import Sketch, estimate_shared

# So many contents depend on a base at most: what damages it damages them.
MOST_DEPENDENTS = 32
# Where more than this part of a content is missing in a base, others may be more alike.
MUCH_MISSING = 0.25


class Encoding(StrEnum):
    """How a content is stored."""

    RAW = "raw"
    ZSTD = "zstd"
    DELTA = "delta"


class Freedom(Enum):
    """What may be done with a content: it is stored raw, at most compressed, as a difference, or left as it is.

    `SHARED`: it is compressed, or the difference to one of the newest contents of its group, which stays whole.
    """

    RAW = "raw"
    ZSTD = "zstd"
    SHARED = "shared"
    DELTA = "delta"
    NONE = "none"


class Standing(IntEnum):
    """How good the versions of a content are, the best first. A content never depends on one with a worse standing."""

    GOOD = 0
    PENDING = 1
    SUSPICIOUS = 2
    BAD = 3


def find_standing(verdict: str, *, is_quarantined: bool) -> Standing:
    """Return the standing of a version with this verdict. In quarantine, it is as bad as a broken one."""
    if is_quarantined:
        return Standing.BAD
    return _STANDINGS.get(Verdict(verdict), Standing.GOOD)


_STANDINGS = {
    Verdict.PENDING: Standing.PENDING,
    Verdict.SUSPICIOUS: Standing.SUSPICIOUS,
    Verdict.BROKEN: Standing.BAD,
}


@struct
class Content:
    """A content of a collection, in the place of the newest of its versions that use it.

    `ends_at` is when the last of these leaves the trash, by the preview of the strategy; None if they stay. A content
    in the trash only has no version that `is_alive`. `base_id` is the one that it is the difference to now. If other
    collections use it, too, `possible` has the ids of the contents that are newer in all of them, and stay.

    `standing` is that of the best version. `tried` are the ids of the bases that lately saved too little, and None if
    compressing did. `sketch` says what it shares with others; None: it was not made yet, empty: it says nothing.

    In a series of several collections, `owners` are those whose versions or trash use the content, and `is_elsewhere`
    says that the trash of another collection does, too. It may be the base of others' contents if it `serves_others`,
    and remains that while a version of the series uses it: `is_held`. `dependents` counts those that are not planned
    with it. `is_newest` says that it is the newest one of a collection, or the newest good one.
    """

    id: int
    encoding: Encoding
    freedom: Freedom
    base_id: int | None = None
    ends_at: datetime | None = None
    is_alive: bool = True
    possible: frozenset[int] | None = None
    standing: Standing = Standing.GOOD
    tried: frozenset[int | None] = frozenset()
    size: int = 0
    sketch: Sketch | None = ()
    owners: frozenset[str] = frozenset()
    is_elsewhere: bool = False
    serves_others: bool = True
    is_held: bool = True
    dependents: int = 0
    is_newest: bool = False

    @property
    def is_new(self) -> bool:
        """Whether it may get a base and has none, so that what depends on it is arranged anew."""
        return self.freedom is Freedom.DELTA and self.base_id is None

    def may_rely_on(self, base: "Content") -> bool:
        """Return whether a base stays at least as long as this content, and is as good."""
        if base.standing > self.standing or base.id in self.tried:
            return False
        if self.possible is not None and base.id not in self.possible:
            return False
        if not self.is_of_owner_of(base) and (self.is_elsewhere or not (base.serves_others and base.is_held)):
            return False
        return base.ends_at is None or (self.ends_at is not None and self.ends_at <= base.ends_at)

    def may_stay_on(self, base: "Content") -> bool:
        """Return whether a base that this content has is still one."""
        if base.standing > self.standing:
            return False
        if not self.is_of_owner_of(base):
            return base.is_held and not self.is_elsewhere
        return base.is_alive or self.may_rely_on(base)

    def is_of_owner_of(self, other: "Content") -> bool:
        """Return whether a collection has both."""
        return not self.owners or bool(self.owners & other.owners)


@struct
class Step:
    """One content that is to be stored in another way; `base_id` with a difference only.

    `is_base_lasting` says that the base stays whole: it has no room for a base of its own. `dependents` are the ids of
    the contents that have been differences to a whole content, and stay that when it becomes a difference itself.
    """

    content_id: int
    encoding: Encoding
    base_id: int | None = None
    is_base_lasting: bool = False
    dependents: tuple[int, ...] = ()


def shared_part(content: Content, base: Content) -> float | None:
    """Return which part of a content a base has; None if that is not known."""
    if not content.sketch or not base.sketch:
        return None
    return estimate_shared(content.sketch, content.size, base.sketch, base.size)


def shares_most(content: Content, base: Content) -> bool:
    """Return whether little of a content is missing in a base, or nothing is known about that."""
    shared = shared_part(content, base)
    return shared is None or shared >= 1 - MUCH_MISSING
