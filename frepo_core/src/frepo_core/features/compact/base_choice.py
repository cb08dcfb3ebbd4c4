"""Which contents of a collection are stored as the difference to a newer one, and to which.

The newest content stays whole. If each content were the difference to the next newer one, the oldest of a hundred would
need the ninety-nine others. With at most `depth` steps and an anchor, stored whole, behind each chain, every fifth
content is whole at a depth of four. So contents are put together like the digits of a binary counter: one of which
nothing depends waits for the next, two of the same height become one that is one higher, and only a content of the
height `depth` is an anchor: every sixteenth at a depth of four. As long as no later content takes them, those that wait
are differences to the newest: at most `depth` of them, which are encoded again when a newer one arrives.

Heights are used, not numbers of versions: strategies keep every seventh or every twenty-fourth version, and then the
numbers of those that stay say nothing.

Only what is alike is put together, by sketches of the contents: dumps of two databases that alternate are two such
counters, and a content that is like no other one stays as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from .newest_bases import find_newest_bases, keep_bases_whole
from .planned_content import MOST_DEPENDENTS, Content, Encoding, Freedom, Step, shared_part, shares_most

# Less than this part of a content in a base is not worth a trial.
LEAST_SHARED = 0.2
# Where much is missing in a base, so many of the next newer contents are asked: they may be more alike.
NEXT = 8
# A content is compared with up to CANDIDATES waiting contents; a value of its sketch finds up to OF_A_MINIMUM of them.
CANDIDATES, OF_A_MINIMUM = 64, 16


def plan(contents: Sequence[Content], *, depth: int) -> list[Step]:
    """Return how the contents of a collection are to be stored, the oldest first, as far as they are not yet.

    `contents` are in ascending order. No chain of the result is longer than `depth`, and each base is newer than what
    depends on it. A base that a content has is kept, unless it has left, or may get a base itself now. What has no
    sketch counts as alike.
    """
    contents = keep_bases_whole(contents)
    planner = _Planner(contents, depth)
    for content in contents:
        planner.place(content)
    return [step for content in contents if (step := planner.step(content))]


def find_unsketched(contents: Sequence[Content], steps: Sequence[Step]) -> set[int]:
    """Return the ids of the contents without a sketch on which differences depend: make it, and plan again."""
    places, found = {content.id: place for place, content in enumerate(contents)}, set[int]()
    for step in steps:
        if step.base_id is None:
            continue
        content, base = contents[places[step.content_id]], contents[places[step.base_id]]
        pair = [content, base]
        if not shares_most(content, base):
            pair += [one for one in _following(contents, places[base.id]) if one.freedom is not Freedom.NONE]
        found |= {one.id for one in pair if one.sketch is None}
    return found


def find_owners(contents: Sequence[Content], steps: Sequence[Step]) -> set[str]:
    """Return the collections that have what the steps are about: their strategies say how long that stays."""
    involved = {step.content_id for step in steps} | {step.base_id for step in steps}
    return {owner for content in contents if content.id in involved for owner in content.owners}


def _following(contents: Sequence[Content], place: int) -> Sequence[Content]:
    return contents[place + 1 : place + 1 + NEXT]


class _Waiting:
    """The contents that wait for a base. Those that are like it are found by equal minima of their sketches."""

    def __init__(self) -> None:
        self._contents: dict[int, Content] = {}
        self._by_minimum = defaultdict[tuple[int, int], list[int]](list)
        self._by_base = defaultdict[int, list[int]](list)
        self._unsketched: dict[int, None] = {}
        self._places: dict[int, int] = {}

    def add(self, content: Content) -> None:
        self._contents[content.id] = content
        self._places[content.id] = len(self._places)
        if content.base_id is not None:
            self._by_base[content.base_id].append(content.id)
        if not content.sketch:
            self._unsketched[content.id] = None
        for minimum in enumerate(content.sketch or ()):
            of_it = [one for one in self._by_minimum[minimum] if one in self._contents]
            self._by_minimum[minimum] = [*of_it[1 - OF_A_MINIMUM :], content.id]

    def remove(self, content_id: int) -> None:
        del self._contents[content_id]
        self._unsketched.pop(content_id, None)

    def candidates(self, base: Content) -> list[Content]:
        """Return those of which this content may become the base or is it, in the order in which they were added."""
        found = set(self._by_base.get(base.id, ())) | set(islice(reversed(self._unsketched), CANDIDATES))
        if base.sketch:
            equal = Counter(one for minimum in enumerate(base.sketch) for one in self._by_minimum.get(minimum, ()))
            found |= {content_id for content_id, _ in equal.most_common(CANDIDATES)}
        else:
            found |= set(islice(reversed(self._contents), CANDIDATES))
        waiting = [content for content_id in found if (content := self._contents.get(content_id))]
        return sorted(waiting, key=lambda content: self._places[content.id])


@dataclass
class _Planner:
    contents: Sequence[Content]
    depth: int
    _heights: dict[int, int] = field(default_factory=dict)
    _bases: dict[int, int] = field(default_factory=dict)
    _waiting: _Waiting = field(default_factory=_Waiting)

    def __post_init__(self) -> None:
        self._by_id = {content.id: content for content in self.contents}
        self._places = {content.id: place for place, content in enumerate(self.contents)}
        self._newest = find_newest_bases(self.contents)
        self._bases |= self._newest
        self._dependents = defaultdict[int, list[int]](list)
        for content in self.contents:
            if content.base_id is not None:
                self._dependents[content.base_id].append(content.id)

    def place(self, content: Content) -> None:
        """Let those that wait become differences to this content, and let it wait itself unless it stays whole."""
        candidates = self._waiting.candidates(content)
        dependents = [other for other in candidates if self._keeps(other, content)]
        height = max((self._heights[other.id] + 1 for other in dependents), default=0)
        for other in reversed(candidates):  # the newest first: the least heights
            has_room = len(dependents) + content.dependents < MOST_DEPENDENTS
            if has_room and self._takes(content, height, other):
                dependents.append(other)
                height = max(height, self._heights[other.id] + 1)
        self._heights[content.id] = height
        for other in dependents:
            self._bases[other.id] = content.id
            self._waiting.remove(other.id)
        may_wait = content.freedom is Freedom.DELTA or (content.freedom is Freedom.NONE and content.base_id is not None)
        if may_wait and height < self.depth:
            self._waiting.add(content)

    def step(self, content: Content) -> Step | None:
        """Return what is to be done with a content, or None."""
        if content.freedom is Freedom.NONE:
            return None
        base_id = self._bases.get(content.id)
        if base_id is not None:
            is_done = content.base_id == base_id
            if is_done:
                return None
            is_lasting = self._heights[base_id] >= self.depth or content.id in self._newest
            return Step(
                content_id=content.id,
                encoding=Encoding.DELTA,
                base_id=base_id,
                is_base_lasting=is_lasting,
                dependents=self._find_dependents(content) if content.base_id is None else (),
            )
        wanted = Encoding.RAW if content.freedom is Freedom.RAW else Encoding.ZSTD
        if wanted is Encoding.ZSTD and content.encoding is Encoding.RAW and None in content.tried:
            return None
        return None if content.encoding is wanted else Step(content_id=content.id, encoding=wanted)

    def _find_dependents(self, content: Content) -> tuple[int, ...]:
        """Return what has a content as its base and keeps it."""
        return tuple(one for one in self._dependents.get(content.id, ()) if self._bases.get(one) == content.id)

    def _keeps(self, other: Content, content: Content) -> bool:
        """Return whether the other one is a difference to this content, and remains that."""
        if other.base_id != content.id or not self._has_levels(other, content):
            return False
        return other.freedom is Freedom.NONE or (not content.is_new and other.may_stay_on(content))

    def _takes(self, content: Content, height: int, other: Content) -> bool:
        """Return whether this content becomes the base of the other one, which has no lasting base."""
        if other.freedom is Freedom.NONE or content.freedom is Freedom.NONE or self._has_lasting_base(other):
            return False
        if not other.may_rely_on(content) or not self._is_alike(other, content):
            return False
        if content.freedom is not Freedom.DELTA:
            return self._has_levels(other, content)  # it stays whole, whatever depends on it, unless it is shared
        # What was encoded before gets no higher: its own base may have no room for that.
        most = height if content.is_new else height - 1
        return self._heights[other.id] <= most

    def _has_levels(self, other: Content, base: Content) -> bool:
        """Return whether a base has room for the other one below its own base, if it is one of the newest with one."""
        return base.id not in self._newest or self._heights[other.id] + 2 <= self.depth

    def _is_alike(self, other: Content, base: Content) -> bool:
        """Return whether enough of the other one is in a base, and none of the next ones is much more like it."""
        shared = shared_part(other, base)
        if shared is None or shares_most(other, base):
            return True
        return shared >= LEAST_SHARED and max(self._shared_by_next(other, base), default=0.0) < (1 + shared) / 2

    def _shared_by_next(self, other: Content, base: Content) -> Iterator[float]:
        for later in _following(self.contents, self._places[base.id]):
            if later.freedom is not Freedom.NONE and other.may_rely_on(later):
                yield shared_part(other, later) or 0.0

    def _has_lasting_base(self, other: Content) -> bool:
        base = self._by_id.get(other.base_id) if other.base_id is not None else None
        if base is None or self._places[base.id] < self._places[other.id]:
            return False
        return not base.is_new and other.may_stay_on(base) and self._has_levels(other, base)
