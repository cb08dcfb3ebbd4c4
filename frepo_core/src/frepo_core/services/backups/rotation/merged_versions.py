"""Two sequences of versions as one, in ascending order. What is not accessed is not loaded."""

from collections.abc import Sequence
from heapq import merge
from typing import overload

from frepo_core.plugins import VersionInfo


class MergedVersions(Sequence[VersionInfo]):
    """The versions of both sequences, each of which is in ascending order of their numbers."""

    def __init__(self, first: Sequence[VersionInfo], second: Sequence[VersionInfo]) -> None:
        self._count = len(first) + len(second)
        self._left = merge(first, second, key=lambda version: version.number)
        self._merged: list[VersionInfo] = []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> VersionInfo: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[VersionInfo]: ...

    def __getitem__(self, index: int | slice) -> VersionInfo | Sequence[VersionInfo]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        while len(self._merged) <= position and (version := next(self._left, None)) is not None:
            self._merged.append(version)
        return self._merged[position]
