"""The port of figures: what a feature adds to what the nucleus reports about the service."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frepo_core.domain.structs import struct
from frepo_core.plugins import HealthCheck

from ..backups.collections.states import Severity


@struct
class StatusLine:
    """Something that was looked at: its name, how bad it is, and a text for people."""

    subject: str
    severity: Severity
    text: str


@struct
class Figures:
    """What a feature adds. The empty form adds nothing.

    - `checks`: its health checks. Those in `of_storage` count as checks of the storage in the report of the first API.
    - `statistics`: returns values for the fields of `ServiceStatistics` that are empty without the feature.
    - `lines`: returns what `frepo status` says besides the health checks.
    """

    checks: Sequence[HealthCheck] = ()
    of_storage: Sequence[str] = ()
    statistics: Callable[[], Mapping[str, Any]] = dict
    lines: Callable[[], Sequence[StatusLine]] = tuple
