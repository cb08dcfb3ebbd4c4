"""Restore tests: the job tests one version of each collection in a night, `backup:test-restore` any version."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .choices import RestoreChoices
    from .engine_names import EngineNames
    from .engine_tests import EngineTests
    from .nightly_tests import NightlyTests
    from .restore_tests import RestoreTests


class RestoreTestServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def tests(self) -> "RestoreTests":
        """Test one version."""
        from .restore_tests import RestoreTests

        core = self._core
        return RestoreTests(
            core.settings,
            core.versions,
            core.stored_content,
            core.late_results,
            core.mask,
            self.choices,
            self._engine_tests,
        )

    @on_demand
    def choices(self) -> "RestoreChoices":
        """Read and set how collections are tested."""
        from .choices import RestoreChoices

        return RestoreChoices(self._core.database, self.engines)

    @on_demand
    def engines(self) -> "EngineNames":
        """The engines of the settings."""
        from .engine_names import EngineNames

        return EngineNames(self._core.settings, self._core.plugins)

    @on_demand
    def _engine_tests(self) -> "EngineTests":
        from .engine_tests import EngineTests

        core = self._core
        return EngineTests(core.settings, core.database, self.engines, core.mask)

    @on_demand
    def nightly_tests(self) -> "NightlyTests":
        """Test one version of each collection."""
        from .nightly_tests import NightlyTests

        core = self._core
        is_chosen = core.settings.restore_tests_engines and not core.settings.restore_tests_command
        names = self.engines if is_chosen else None
        return NightlyTests(core.database, core.settings, core.collections, self.tests, names)


def test_restores(services: "CoreServices", context: JobContext) -> Summary:
    """Test whether versions can be restored, one of each collection, until `restore_tests.window` is over.

    A run that follows an interrupted one continues it, and ends when that would have ended. Raises `RestoreFailedError`
    at the end if one cannot be restored, or if its test could not be completed.
    """
    from frepo_core.services.composition.storage_jobs import job_actor
    from frepo_core.services.upkeep.engine.job_runs import find_interrupted

    from .nightly_tests import RestoreFailedError

    began = find_interrupted(
        services.database, "restore_tests", since=context.now - services.settings.restore_tests_window
    )
    night = services.feature(RestoreTestServices).nightly_tests.run(
        began=began or context.now,
        now=context.now,
        by=job_actor("restore_tests"),
        keep_going=context.check_lease,
        progress=context.progress,
    )
    if night.problems:
        raise RestoreFailedError(night.describe_problems())
    return {
        "good": night.good,
        "untestable": night.untestable,
        "left": night.left,
        "size": night.size,
        "seconds": round(night.seconds, 1),
    }


def _can_restore(services: "CoreServices") -> bool:
    settings = services.settings
    return bool(settings.restore_tests_command or settings.restore_tests_engines)


def _recovered() -> Sequence[Any]:
    from frepo_core.db.models import RestoreChoice

    from ..recovery.journal.objects import kind_of
    from .choices import NAMED_BY

    return [kind_of("restore_choice", RestoreChoice, "incarnation", after="deleted_collection", named_by=NAMED_BY)]


FEATURE = Feature(
    services=RestoreTestServices,
    recovered=_recovered,
    endpoints=["frepo_core.features.restore_tests.endpoints"],
    jobs=[
        BuiltinJob(
            name="restore_tests",
            schedule="30 5 * * *",
            lane="long",
            summary="Test whether the newest version of each collection can be restored",
            work=test_restores,
            is_on=_can_restore,
        ),
    ],
)
