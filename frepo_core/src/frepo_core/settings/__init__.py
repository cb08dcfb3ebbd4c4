"""The settings: declared as data, and read from the environment, the ini file or the default, in this order."""

from .loader import core_prefixes, load_disabled_plugins, load_job_schedules, load_settings
from .model import Settings
from .plugin_settings import load_plugin_settings, load_storage_settings
from .validation import environment_name

__all__ = [
    "Settings",
    "core_prefixes",
    "environment_name",
    "load_disabled_plugins",
    "load_job_schedules",
    "load_plugin_settings",
    "load_settings",
    "load_storage_settings",
]
