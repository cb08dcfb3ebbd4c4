"""Chooses of several storages the one whose journal reaches furthest: one may have been away when the machine burnt."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from .sources import RecoveryError, Source


def find_furthest(storages: Sequence[str], read: Callable[[str], Source]) -> Source:
    """Return the source that reaches furthest, and of equal ones the first. `read` stages its journal.

    What is wrong with the others is a problem of it. Raises the first `RecoveryError` if no storage has a source.
    """
    sources, errors = dict[str, Source](), dict[str, RecoveryError]()
    for storage in storages:
        try:
            sources[storage] = read(storage)
        except RecoveryError as error:
            errors[storage] = error
    if not sources:
        raise next(iter(errors.values()))
    best = max(sources.values(), key=lambda source: source.reaches)
    if best is not [*sources.values()][-1] or errors:
        read(best.storage)  # so that its journal is the one that is staged
    return replace(best, problems=(*best.problems, *_describe_others(sources, errors, best)))


def _describe_others(sources: dict[str, Source], errors: dict[str, RecoveryError], best: Source) -> Sequence[str]:
    texts = [f"The journal in {storage!r} is not used: {error.message}" for storage, error in errors.items()]
    for storage, source in sources.items():
        if source.database != best.database:
            texts.append(f"The journal in {storage!r} is of another database and is not used")
        elif source.reaches < best.reaches:
            texts.append(f"The journal in {storage!r} only reaches {source.reaches:%Y-%m-%d %H:%M:%S} UTC")
    return texts
