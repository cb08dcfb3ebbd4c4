"""Checks the free space of the storage, of temporary files, and of an SQLite database; and the trash."""

from collections.abc import Iterator
from pathlib import Path

from frepo_core.domain.durations import format_duration
from frepo_core.domain.sizes import readable_size
from frepo_core.services.composition.container import Services
from frepo_core.services.content.storages.storage_space import find_free_space, free_on_disk, temporary_folder

from .findings import Finding, good, problem, warning

# Bytes. Below the first, the next large upload may fail.
SCARCE, TOO_LITTLE = 5 * 10**9, 500 * 10**6
_REMEDY = "Free space: lower limits, delete versions, run `frepo storage:sweep`; or add a larger disk"


def check_trash(services: Services) -> Iterator[Finding]:
    """Yield whether versions that were evicted can be restored."""
    if services.settings.trash_keep:
        keep = format_duration(services.settings.trash_keep)
        yield good("trash", f"What is evicted or deleted can be restored for {keep}")
        return
    yield warning(
        "trash",
        "trash.keep is 0: what is evicted or deleted is gone at once. If a version is found broken after it has "
        "evicted the last good one, nothing can be given back",
        "Set trash.keep, or let each collection keep several versions; docs/trash.md says what can be lost",
    )


def check_disk(services: Services) -> Iterator[Finding]:
    """Yield how much is free where the service writes."""
    backends = services.backends
    spaces: dict[str, int | None] = {
        **{f"the storage {name!r}": find_free_space(backends, name) for name in backends.configured},
        "temporary files (temp_directory)": free_on_disk(temporary_folder(services.settings)),
    }
    engine = services.database.engine
    if engine.dialect.name == "sqlite":
        spaces["the database"] = free_on_disk(Path(str(engine.url.database)).absolute().parent)
    for what, free in spaces.items():
        if free is None:
            yield good("disk", f"How much is free for {what} is not known, or there is no limit")
        elif free < TOO_LITTLE:
            yield problem("disk", f"Only {readable_size(free)} are free for {what}", _REMEDY)
        elif free < SCARCE:
            yield warning("disk", f"{readable_size(free)} are free for {what}", _REMEDY)
        else:
            yield good("disk", f"{readable_size(free)} are free for {what}")
