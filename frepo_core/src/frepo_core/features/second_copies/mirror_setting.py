"""Checks the setting `mirror`. `Backends.mirror` is the storage that gets the second copies."""

from frepo_core.errors import ConfigurationError
from frepo_core.services.content.storages.backends import Backends
from frepo_core.settings import Settings


def check_mirror(settings: Settings, backends: Backends) -> None:
    """Raise `ConfigurationError` if the setting names no configured storage, or the first one of the settings."""
    name = settings.mirror
    if not name:
        return
    if name == backends.setting:
        raise ConfigurationError(
            f"mirror (MIRROR) is {name!r}, which is the storage for new blobs. Name another storage, or leave it empty"
        )
    try:
        backends.check_name(name)
    except ConfigurationError as error:
        raise ConfigurationError(f"mirror (MIRROR) is {name!r}: {error.message}") from error
