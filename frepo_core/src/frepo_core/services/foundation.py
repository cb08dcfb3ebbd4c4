"""What all services use: the settings, the plug-ins, the database and the storages."""

from collections.abc import Callable, Mapping
from dataclasses import field

from frepo_core.db import Database
from frepo_core.domain.structs import struct
from frepo_core.plugins import PluginContext, Service
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings

from .content.storages.backends import Backends
from .content.storages.storage_troubles import StorageStates
from .content.storages.write_guard import Presence
from .events.masking import Mask


@struct
class Foundation:
    """What all services use.

    `ini` and `environment` are what the settings were loaded from. `contexts` are the contexts of the plug-ins by the
    plug-in's name; `facade_of` makes the service in them. `mask` masks the values of all secret settings.
    """

    ini: Mapping[str, str] = field(repr=False)
    environment: Mapping[str, str] = field(repr=False)
    settings: Settings
    plugins: PluginRegistry
    contexts: Mapping[str, PluginContext]
    facade_of: Callable[[str], Service]
    database: Database
    backends: Backends
    presence: Presence
    storage_states: StorageStates
    mask: Mask
