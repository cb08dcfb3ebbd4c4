"""Restore tests: the job tests one version of each collection in a night, `backup:test-restore` any version."""

from functools import cached_property
from typing import TYPE_CHECKING

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .nightly_tests import NightlyTests
    from .restore_tests import RestoreTests


class RestoreTestServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @cached_property
    def tests(self) -> "RestoreTests":
        """Test one version."""
        from .restore_tests import RestoreTests

        core = self._core
        return RestoreTests(core.settings, core.versions, core.stored_content, core.late_results, core.mask)

    @cached_property
    def nightly_tests(self) -> "NightlyTests":
        """Test one version of each collection."""
        from .nightly_tests import NightlyTests

        core = self._core
        return NightlyTests(core.database, core.settings, core.collections, self.tests)


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


def _has_restore_command(services: "CoreServices") -> bool:
    return bool(services.settings.restore_tests_command)


FEATURE = Feature(
    services=RestoreTestServices,
    jobs=[
        BuiltinJob(
            name="restore_tests",
            schedule="30 5 * * *",
            lane="long",
            summary="Test whether the newest version of each collection can be restored",
            work=test_restores,
            is_on=_has_restore_command,
        ),
    ],
)
