"""Finds and reads the ini file: `--ini`, else `$FREPO_INI`, else `development.ini` in the current folder."""

import configparser
import os
from pathlib import Path

from frepo_core.errors import ConfigurationError

DEFAULT = "development.ini"


def find_ini(option: str | None) -> Path:
    """Return the ini file's path; it need not exist."""
    return Path(option or os.environ.get("FREPO_INI") or DEFAULT)


def is_chosen(option: str | None) -> bool:
    """Tell whether somebody named an ini file, so that it has to be there."""
    return bool(option or os.environ.get("FREPO_INI"))


def read_ini(path: Path) -> dict[str, str]:
    """Return the settings of `[app:main]`. Raises `ConfigurationError` where the file cannot be read."""
    import plaster
    from plaster_pastedeploy import Loader

    if not path.is_file():
        raise ConfigurationError(
            f"There is no ini file {str(path)!r}: name one with --ini FILE or FREPO_INI, or call frepo where it is"
        )
    try:
        uri = plaster.parse_uri(str(path.absolute()))
        # The one that plaster would find, and for that it reads the metadata of all that is installed.
        loader = Loader(uri) if uri.scheme == "file+ini" else plaster.get_loader(uri)
        settings = dict(loader.get_settings("app:main"))
    except Exception as error:
        # What stands around a lone % may be a password.
        is_percent = isinstance(error, configparser.InterpolationError)
        reason = "a % has to be written as %%" if is_percent else " ".join(str(error).split())
        raise ConfigurationError(f"The ini file {str(path)!r} cannot be read: {reason}") from error
    if not settings:
        raise ConfigurationError(f"The ini file {str(path)!r} has no settings: there is no section [app:main] in it")
    settings.pop("use", None)
    return settings
