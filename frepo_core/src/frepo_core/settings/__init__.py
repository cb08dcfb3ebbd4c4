"""The settings: declared as data, and read from the environment, the ini file or the default, in this order."""

from .loader import SECRETS, core_prefixes, load_disabled_plugins, load_job_schedules, load_settings
from .model import Settings
from .named_storages import (
    NamedStorage,
    adapters_in_use,
    load_named_storage_settings,
    load_named_storages,
    storage_names,
)
from .plugin_settings import load_plugin_settings, load_storage_settings
from .secrets import replace_secrets
from .validation import environment_name

__all__ = [
    "SECRETS",
    "NamedStorage",
    "Settings",
    "adapters_in_use",
    "core_prefixes",
    "environment_name",
    "load_disabled_plugins",
    "load_job_schedules",
    "load_named_storage_settings",
    "load_named_storages",
    "load_plugin_settings",
    "load_settings",
    "load_storage_settings",
    "replace_secrets",
    "storage_names",
]
