"""Second copies: contents get a copy in another storage, which is read if the first one fails."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

from frepo_core.plugins import HealthCheck, JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand
from frepo_core.services.reports.figures import Figures, StatusLine

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices
    from frepo_core.services.content.copies import Copies

    from .copy_reports import CopyReports
    from .mirror import Mirror
    from .promotion import Promotions
    from .second_copies import SecondCopies


class SecondCopyServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def copies(self) -> "SecondCopies":
        """What the nucleus asks for copies."""
        from .second_copies import SecondCopies

        return SecondCopies(self._core)

    @on_demand
    def reports(self) -> "CopyReports":
        """Read how far behind the copies are."""
        from .copy_reports import CopyReports

        return CopyReports(self._core.database, self._core.backends, self._core.settings)

    @on_demand
    def mirror(self) -> "Mirror":
        """Make and delete copies."""
        from .mirror import Mirror

        core = self._core
        return Mirror(core.database, core.backends, core.presence, core.storage_states, core.settings)

    @on_demand
    def promotions(self) -> "Promotions":
        """Let another storage be the first one."""
        from .promotion import Promotions

        return Promotions(self._core.database, self._core.blobs)


def mirror(services: "CoreServices", context: JobContext) -> Summary:
    """Make the second copies that are due, and delete those whose contents were deleted `mirror.delete_delay` ago.

    Repairs damaged first copies from second ones.

    Raises `SweepStoppedError` if more than 20 % of the copies in a storage would be deleted within a day.
    """
    from frepo_core.services.composition.storage_jobs import job_actor

    from .lag import report_lag

    service, keep_going, by = services.feature(SecondCopyServices).mirror, context.check_lease, job_actor("mirror")
    summary, problems = Counter[str](), list[str]()
    summary.update(asdict(service.compare(keep_going=keep_going)))
    for storage in service.storages():
        report = service.run(storage, keep_going=keep_going, progress=context.progress, by=by)
        summary.update({name: value for name, value in asdict(report).items() if name != "problem"})
        report_lag(services.database, storage, services.settings.mirror_max_lag, by=by)
        problems += [report.problem] if report.problem else []
    return {"repaired": 0, **summary, **({"problem": "; ".join(problems)} if problems else {})}


def _has_second_place(services: "CoreServices") -> bool:
    return bool(services.settings.mirror) or len(services.backends.configured) > 1


def _copies(services: "CoreServices") -> "Copies":
    return services.feature(SecondCopyServices).copies


def _figures(services: "CoreServices") -> Figures:
    from frepo_core.db import utc_now
    from frepo_core.services.backups.collections.states import Severity
    from frepo_core.services.reports.health.core_checks import DATABASE_SECONDS

    reports = services.feature(SecondCopyServices).reports

    def lines() -> list[StatusLine]:
        """Say how far behind second copies are. The health check says whether that is too far."""
        now = utc_now()
        return [
            StatusLine(subject=f"copies in {one.storage}", severity=Severity.OK, text=one.describe(now))
            for one in reports.read()
        ]

    return Figures(
        checks=[HealthCheck(name="copies", run=reports.check, deadline=DATABASE_SECONDS)],
        of_storage=["copies"],
        statistics=lambda: {"copies": [one.status() for one in reports.read()]},
        lines=lines,
    )


FEATURE = Feature(
    services=SecondCopyServices,
    jobs=[
        BuiltinJob(
            name="mirror",
            schedule="every 1m",
            lane="mirror",
            summary="Make second copies, and delete those of deleted contents",
            work=mirror,
            is_on=_has_second_place,
        )
    ],
    copies=_copies,
    figures=_figures,
)
