"""Finds and reads the ini file: `--ini`, else `$FREPO_INI`, else `development.ini` in the current folder."""

import configparser
import os
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from frepo_core.errors import ConfigurationError

from .ini_check import IniFile

DEFAULT = "development.ini"


def find_ini(option: str | None) -> Path:
    """Return the ini file's path; it need not exist."""
    return Path(option or os.environ.get("FREPO_INI") or DEFAULT)


def is_chosen(option: str | None) -> bool:
    """Whether the user named an ini file. It must exist then."""
    return bool(option or os.environ.get("FREPO_INI"))


def _first_ini() -> str:
    """Say where the ini file is that `pip install frepo` brings. It makes its state next to itself, so it is copied."""
    path = Path(sysconfig.get_path("data")) / "share/frepo" / DEFAULT
    return f". To begin with: cp {path} ." if path.is_file() else ""


def read_ini(path: Path, check: Callable[[IniFile], object] = IniFile.check_app) -> dict[str, str]:
    """Return the settings of `[app:main]`. Raises `ConfigurationError` if the file cannot be read.

    `check` is what has to be right in it; `IniFile.check_to_serve` looks at what the server reads, too.
    """
    import plaster

    if not path.is_file():
        raise ConfigurationError(
            f"The ini file {str(path)!r} does not exist. Name one with --ini FILE or FREPO_INI, or run frepo in its "
            f"folder{_first_ini() if path == Path(DEFAULT) else ''}"
        )
    try:
        if plaster.parse_uri(str(path.absolute())).scheme == "file+ini":
            check(IniFile(path))
        settings = dict(_find_loader(path).get_settings("app:main"))
    except ConfigurationError:
        raise
    except plaster.LoaderNotFound as error:
        raise ConfigurationError(f"{str(path)!r} is not an ini file: its name must end with .ini") from error
    except Exception as error:
        # The text around a single % may be a password, so it is not shown.
        is_percent = isinstance(error, configparser.InterpolationError)
        reason = "a % has to be written as %%" if is_percent else " ".join(str(error).split())
        raise ConfigurationError(f"The ini file {str(path)!r} cannot be read: {reason}") from error
    if not settings:
        raise ConfigurationError(f"The ini file {str(path)!r} has no settings: the section [app:main] is missing")
    settings.pop("use", None)
    return settings


def check_logging(path: Path) -> None:
    """Set up the logging of this process as the ini file says. Raises `ConfigurationError` if that fails."""
    try:
        _find_loader(path).setup_logging()
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ConfigurationError(
            f"The ini file {str(path)!r} says in its sections of logging what cannot be done: {reason}. Compare its "
            "[handler_...] and [formatter_...] with those of the shipped production.ini"
        ) from error


def _find_loader(path: Path) -> Any:
    import plaster
    from plaster_pastedeploy import Loader

    uri = plaster.parse_uri(str(path.absolute()))
    # plaster would find the same loader, but would read the metadata of all installed packages.
    return Loader(uri) if uri.scheme == "file+ini" else plaster.get_loader(uri)
