"""Who sends: warnings about other programs and hosts than in the last weeks, and about hosts that send in turn."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand
from frepo_core.services.reports.figures import Figures, StatusLine

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .senders import Senders

# For how long a warning raises the exit status of `frepo status`.
URGENT = timedelta(days=1)


class SenderServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def senders(self) -> "Senders":
        """Compare who sends now with who has sent before."""
        from .senders import Senders

        return Senders(self._core.database)


def compare_senders(services: "CoreServices", context: JobContext) -> Summary:
    """Warn of what is odd, once."""
    senders = services.feature(SenderServices).senders
    return {"warned": senders.check(context.now, keep_going=context.check_lease)}


def _figures(services: "CoreServices") -> Figures:
    return Figures(lines=lambda: [*_lines(services)])


def _lines(services: "CoreServices") -> Iterator[StatusLine]:
    from frepo_core.db import utc_now
    from frepo_core.services.backups.collections.states import Severity

    now = utc_now()
    for one in services.feature(SenderServices).senders.warnings(now):
        severity = Severity.WARNING if one.at > now - URGENT else Severity.OK
        yield StatusLine(subject="senders", severity=severity, text=f"{one.message} (seen {one.at:%Y-%m-%d %H:%M} UTC)")


FEATURE = Feature(
    services=SenderServices,
    jobs=[
        BuiltinJob(
            name="senders",
            schedule="every 1h",
            lane="short",
            summary="Warn of collections and tokens that are used by other programs and hosts than before",
            work=compare_senders,
        )
    ],
    figures=_figures,
)
