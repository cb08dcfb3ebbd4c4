"""Logging of `frepo` to stderr."""

import logging
from typing import TextIO

from frepo_core.log_stream import guard
from frepo_core.services.base.log_records import log_safely

_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)
_FILE_FORMAT = "%(asctime)s %(levelname)-5s %(name)s: %(message)s"


def configure_logging(verbosity: int, stderr: TextIO, log_file: str | None) -> None:
    """Replace the logging configuration.

    `verbosity` counts as cliff does: 0 for -q, 1 without options, 2 for -v, 3 for -vv, 4 for -vvv. Libraries
    log one level less than frepo.
    """
    log_safely()
    handlers: list[logging.Handler] = [logging.StreamHandler(guard(stderr))]
    if log_file:
        handlers.append(logging.FileHandler(log_file, encoding="utf-8"))
        handlers[-1].setFormatter(logging.Formatter(_FILE_FORMAT))
    logging.basicConfig(
        level=_level(max(verbosity - 1, 0)), format="%(levelname)s: %(message)s", handlers=handlers, force=True
    )
    logging.getLogger("frepo_core").setLevel(_level(verbosity))


def _level(verbosity: int) -> int:
    return _LEVELS[min(verbosity, len(_LEVELS) - 1)]
