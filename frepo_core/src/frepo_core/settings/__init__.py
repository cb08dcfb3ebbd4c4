"""Settings declared as data and read in one order: environment, ini, default."""

from .loader import environment_name, load_settings, load_storage_settings
from .model import Settings

__all__ = ["Settings", "environment_name", "load_settings", "load_storage_settings"]
