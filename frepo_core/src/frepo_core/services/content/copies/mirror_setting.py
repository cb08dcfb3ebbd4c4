"""Which storage gets the second copies, according to the settings."""

from frepo_core.errors import ConfigurationError
from frepo_core.settings import Settings

from ..storages.backends import Backends


def find_mirror(settings: Settings, backends: Backends) -> str | None:
    """Return the storage for second copies, None without them.

    Raises `ConfigurationError` if it is not configured, or is the storage for new blobs.
    """
    name = settings.mirror
    if not name:
        return None
    if name == backends.current:
        raise ConfigurationError(
            f"mirror (MIRROR) is {name!r}, which is the storage for new blobs. Name another storage, or leave it empty"
        )
    try:
        backends.check_name(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"mirror (MIRROR) is {name!r}: {error.message}") from error
    return name
