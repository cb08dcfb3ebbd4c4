"""Checks the free space of the storage, of temporary files, and of an SQLite database."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from frepo_core.domain.sizes import readable_size
from frepo_core.services.composition.container import Services

from .findings import Finding, good, problem, warning

# Bytes. Below the first, the next large upload may fail.
SCARCE, TOO_LITTLE = 5 * 10**9, 500 * 10**6
_REMEDY = "Free space: lower limits, delete versions, run `frepo storage:sweep`; or add a larger disk"


def check_disk(services: Services) -> Iterator[Finding]:
    """Yield how much is free where the service writes."""
    spaces: dict[str, int | None] = {
        f"the storage {services.backends.current!r}": services.backends.get(services.backends.current).free_space(),
        "temporary files (temp_directory)": _free(services.settings.temp_directory or Path(tempfile.gettempdir())),
    }
    engine = services.database.engine
    if engine.dialect.name == "sqlite":
        spaces["the database"] = _free(Path(str(engine.url.database)).absolute().parent)
    for what, free in spaces.items():
        if free is None:
            yield good("disk", f"How much is free for {what} is not known, or there is no limit")
        elif free < TOO_LITTLE:
            yield problem("disk", f"Only {readable_size(free)} are free for {what}", _REMEDY)
        elif free < SCARCE:
            yield warning("disk", f"{readable_size(free)} are free for {what}", _REMEDY)
        else:
            yield good("disk", f"{readable_size(free)} are free for {what}")


def _free(folder: Path) -> int:
    return shutil.disk_usage(folder if folder.exists() else folder.parent).free
