"""What differs between the parts of two versions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from frepo_core.plugins import Part

# The order in which people want to see them.
ORDER = ("went", "shrank", "appeared", "grew", "changed")
_COMPARED = {"table", "file"}


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A part that differs; `before` or `after` is None if it is in one version only."""

    change: str
    before: Part | None
    after: Part | None

    @property
    def weight(self) -> int:
        """By how many bytes it differs."""
        return abs((self.after.size if self.after else 0) - (self.before.size if self.before else 0))


def find_differences(before: Sequence[Part], after: Sequence[Part]) -> list[Difference]:
    """Return what differs, what went and what shrank first, the largest first."""
    old, new = ({part.name: part for part in parts if part.kind in _COMPARED} for parts in (before, after))
    return sorted(_differences(old, new), key=lambda one: (ORDER.index(one.change), -one.weight))


def _differences(old: dict[str, Part], new: dict[str, Part]) -> Iterator[Difference]:
    for name in old.keys() | new.keys():
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            yield Difference(change="appeared" if before is None else "went", before=before, after=after)
        elif change := _change(before, after):
            yield Difference(change=change, before=before, after=after)


def _change(before: Part, after: Part) -> str:
    counts = [(before.rows, after.rows), (before.size, after.size)]
    for earlier, later in counts:  # rows say more than bytes
        if earlier is not None and later is not None and earlier != later:
            return "shrank" if later < earlier else "grew"
    return "changed" if before.modified != after.modified else ""
