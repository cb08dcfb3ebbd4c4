"""The settings: declared as data, and read from the environment, the ini file or the default, in this order."""

from .loader import environment_name, load_settings, load_storage_settings
from .model import Settings

__all__ = ["Settings", "environment_name", "load_settings", "load_storage_settings"]
