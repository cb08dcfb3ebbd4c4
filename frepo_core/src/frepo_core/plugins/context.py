"""The context that a plug-in's functions get: its settings, its log and the facade to the service."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .service import Service

if TYPE_CHECKING:
    from .discovery import FoundPlugin


@dataclass(frozen=True, kw_only=True)
class PluginContext:
    """One for each plug-in, made at the start of the process.

    - `settings`: the filled model of the plug-in's `SettingsSpec`; None if it has none.
    - `service`: the service's data and actions.
    - `log`: a logger that names the plug-in and its package in each line.
    """

    settings: Any
    service: Service
    log: logging.Logger


class _Origin(logging.Filter):
    """Puts the plug-in and its package before each message of a logger."""

    def __init__(self, origin: str) -> None:
        super().__init__()
        self._origin = origin

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "plugin", None) != self._origin:  # a record may pass through a logger twice
            record.msg, record.args = f"{self._origin}: {record.getMessage()}", ()
            record.plugin = self._origin
        return True


def make_contexts(
    found: Iterable["FoundPlugin"], settings: Mapping[str, Any], service: Service
) -> dict[str, PluginContext]:
    """Return the context of each plug-in by its name; `settings` are the filled models by the plug-in's name."""
    return {
        plugin.name: PluginContext(settings=settings.get(plugin.name), service=service, log=_make_log(plugin))
        for plugin in found
    }


def _make_log(plugin: "FoundPlugin") -> logging.Logger:
    log = logging.getLogger(f"frepo_core.plugins.{plugin.name}")
    log.filters = [one for one in log.filters if not isinstance(one, _Origin)]  # of an earlier service in this process
    log.addFilter(_Origin(plugin.origin))
    return log
