"""The context that a plug-in's functions get: its settings, its log and the facade to the service."""

import logging
from dataclasses import dataclass
from typing import Any

from .service.service import Service


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
