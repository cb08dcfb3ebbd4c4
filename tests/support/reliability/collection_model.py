"""The rules of a collection, told a second time, on a dictionary of contents."""

from dataclasses import dataclass, field

from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import FrepoError, RuleError, VersionConflictError
from support.reliability.invariants import ALERTING


@dataclass
class Shelf:
    """A collection in the model."""

    limits: dict[str, int]
    strategy: str
    guards: dict[str, object] = field(default_factory=dict)
    versions: dict[int, bytes] = field(default_factory=dict)
    last: int = 0

    def after_push(self, content: bytes, follows: int | None) -> dict[int, bytes] | type[FrepoError]:
        """Return the versions after a push, or the refusal."""
        size, one, total, count = len(content), self.limits[ONE], self.limits[TOTAL], self.limits[COUNT]
        if follows is not None and follows != self.last:
            return VersionConflictError
        if (one and size > one) or (total and size > total):
            return RuleError
        kept = dict(self.versions)
        while kept and ((count and len(kept) >= count) or (total and sum(map(len, kept.values())) + size > total)):
            del kept[min(kept)]
        rotated = len(kept) < len(self.versions)
        if rotated and (self.strategy == ALERTING or self.guards.get("min_retention")):
            return RuleError
        if self._is_suspicious(size) and (rotated or self.guards.get("action") != "keep"):
            return RuleError
        return kept | {self.last + 1: content}

    def _is_suspicious(self, size: int) -> bool:
        newest = len(self.versions[max(self.versions)]) if self.versions else 0
        shrink = self.guards.get("max_shrink_percent")
        return size < self.guards.get("min_version_size", 0) or bool(shrink and size < newest * (100 - shrink) / 100)
