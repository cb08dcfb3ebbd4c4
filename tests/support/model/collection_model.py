"""The rules of a collection, told a second time, on dictionaries of contents."""

from dataclasses import dataclass, field, replace
from statistics import median_low
from typing import Self

from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import FrepoError, RuleError, VersionConflictError
from support.reliability.invariants import ALERTING

QUARANTINE_MAX = 2


@dataclass
class Shelf:
    """A collection in the model. `suspicious` and `pinned` are numbers of `versions`; `quarantined` are separate."""

    limits: dict[str, int]
    strategy: str
    guards: dict[str, object] = field(default_factory=dict)
    versions: dict[int, bytes] = field(default_factory=dict)
    quarantined: dict[int, bytes] = field(default_factory=dict)
    suspicious: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    last: int = 0
    trash: dict[int, bytes] = field(default_factory=dict)
    restored: set[int] = field(default_factory=set)  # not evicted for some time
    notes: dict[int, str] = field(default_factory=dict)  # they are given back with their versions
    sizes: list[int] = field(default_factory=list)  # of all good versions, since a person has decided about sizes

    @property
    def contents(self) -> dict[int, bytes]:
        """All versions."""
        return self.versions | self.quarantined

    def after_push(self, content: bytes, follows: int | None) -> "Shelf | type[FrepoError]":
        """Return the collection after a push of unknown length, or the refusal."""
        if follows is not None and follows != self.last:
            return VersionConflictError
        if not self._fits_alone(content) or self._without_oldest(0) is None:  # the second one before it is read
            return RuleError
        number, is_suspicious = self.last + 1, self._is_suspicious(len(content))
        if is_suspicious and self.guards.get("action") == "quarantine":
            kept = dict(list(self.quarantined.items())[-QUARANTINE_MAX + 1 :])
            return self._with_rest_in_trash(replace(self, last=number, quarantined=kept | {number: content}))
        kept = self._without_oldest(len(content))
        rotated = kept is None or len(kept) < len(self.versions)
        if kept is None or (is_suspicious and (rotated or self.guards.get("action") != "mark")):
            return RuleError
        suspicious = self.suspicious | ({number} if is_suspicious else set())
        sizes = self.sizes if is_suspicious else [*self.sizes, len(content)]
        versions = kept | {number: content}
        added = replace(self, last=number, versions=versions, suspicious=suspicious, sizes=sizes)
        return self._with_rest_in_trash(added)

    def after_release(self, number: int) -> "Shelf | type[FrepoError]":
        """Return the collection after the release of a version from quarantine, or the refusal."""
        content = self.quarantined[number]
        kept = self._without_oldest(len(content)) if self._fits_alone(content) else None
        newest = max(self.versions.keys() - self._hidden(), default=0)
        if kept is None or (newest > number and newest not in kept):
            return RuleError
        others = {other: each for other, each in self.quarantined.items() if other != number}
        versions = dict(sorted((kept | {number: content}).items()))
        return self._with_rest_in_trash(replace(self, versions=versions, quarantined=others, sizes=[len(content)]))

    def after_guards(self, guards: dict[str, object]) -> "Shelf":
        """Return the collection after an edit of its guards."""
        shrink = "max_shrink_percent"
        sizes = self.sizes if guards.get(shrink, 0) == self.guards.get(shrink, 0) else []
        return replace(self, guards=guards, sizes=sizes)

    def after_pin(self, number: int) -> "Shelf | type[FrepoError]":
        """Return the collection after a version was pinned, or the refusal."""
        if number in self.quarantined:
            return RuleError
        pinned = replace(self, pinned=self.pinned | {number})
        return pinned if pinned.pins_leave_room(self.limits) else RuleError

    def after_deletion(self, number: int) -> "Shelf | type[FrepoError]":
        """Return the collection after a request to delete a version, or the refusal."""
        if number in self.quarantined:
            others = {each: self.quarantined[each] for each in self.quarantined if each != number}
            return self._with_rest_in_trash(replace(self, quarantined=others))
        if number not in self.versions or number in self.pinned or self.guards.get("min_retention"):
            return FrepoError
        others = {each: self.versions[each] for each in self.versions if each != number}
        return self._with_rest_in_trash(replace(self, versions=others))

    def after_restore(self, number: int) -> "Shelf | type[FrepoError]":
        """Return the collection after a version was restored from the trash, or the refusal."""
        if number not in self.trash or not self._has_room_to_restore(number):
            return FrepoError
        trash = {each: self.trash[each] for each in self.trash if each != number}
        versions = dict(sorted((self.versions | {number: self.trash[number]}).items()))
        return replace(self, versions=versions, trash=trash, restored=self.restored | {number})

    def _with_rest_in_trash(self, after: "Shelf") -> "Shelf":
        """Return the collection after a change, with what that has removed in the trash."""
        gone = {number: content for number, content in self.contents.items() if number not in after.contents}
        return replace(after, trash=after.trash | gone, pinned=after.pinned - gone.keys())

    def pins_leave_room(self, limits: dict[str, int]) -> bool:
        """Return whether another version of the size of the newest fits next to the pinned ones."""
        if not self.pinned:
            return True
        size = self._pinned_size() + len(self.versions[max(self.versions)])
        has_count = not limits[COUNT] or len(self.pinned) < limits[COUNT]
        return has_count and (not limits[TOTAL] or size <= limits[TOTAL])

    def _fits_alone(self, content: bytes) -> bool:
        return all(not self.limits[name] or len(content) <= self.limits[name] for name in (ONE, TOTAL))

    def _without_oldest(self, size: int) -> dict[int, bytes] | None:
        """Return the versions that stay for one of this size, or None if it is refused."""
        count, total = self.limits[COUNT], self.limits[TOTAL]
        pins = {number: self.versions[number] for number in self._hidden()}
        others = {number: content for number, content in self.versions.items() if number not in pins}
        if (count and len(pins) >= count) or (total and self._hidden_size() + max(size, 1) > total):
            return None
        before = len(others)
        while others and (
            (count and len(others) + len(pins) >= count)
            or (total and sum(map(len, others.values())) + self._hidden_size() + size > total)
        ):
            del others[min(others)]
        if len(others) < before and (self.strategy == ALERTING or self.guards.get("min_retention")):
            return None
        return dict(sorted((others | pins).items()))

    def _hidden(self) -> set[int]:
        """The versions that strategies do not see."""
        return self.pinned | (self.restored & self.versions.keys())

    def _hidden_size(self) -> int:
        return sum(len(self.versions[number]) for number in self._hidden())

    def _pinned_size(self) -> int:
        return sum(len(self.versions[number]) for number in self.pinned)

    def _has_room_to_restore(self, number: int) -> bool:
        """Return whether a version of the trash and another one of the newest's size fit, if nothing may be evicted."""
        size, sizes = len(self.trash[number]), {each: len(content) for each, content in self.versions.items()}
        one, total, count = self.limits[ONE], self.limits[TOTAL], self.limits[COUNT]
        hidden = [sizes[each] for each in self._hidden()]
        newest = sizes[max(sizes)] if sizes else 0
        return not (
            (one and size > one)
            or (count and (len(sizes) >= count or len(hidden) + 2 > count))
            or (total and max(sum(sizes.values()), sum(hidden) + newest) + size > total)
        )

    def _is_suspicious(self, size: int) -> bool:
        trusted = [number for number in self.versions if number not in self.suspicious]
        usual = len(self.versions[max(trusted)]) if trusted else 0
        if len(self.sizes) >= 3:  # the largest median of the last 14, as all of this is one day
            usual = max(median_low(self.sizes[max(0, end - 14) : end]) for end in range(3, len(self.sizes) + 1))
        shrink = self.guards.get("max_shrink_percent")
        return size < self.guards.get("min_version_size", 0) or bool(shrink and size < usual * (100 - shrink) / 100)

    def become(self, other: Self) -> None:
        """Take over the state after a request."""
        vars(self).update(vars(other))
