"""Recovery: a lost database is made again from the storages, and what a restored one lacks is read back.

Its jobs write the journal, which a recovery reads. The keys, the cursors and the comparison with the database are the
nucleus' own: nothing is deleted in a storage that knows more than the database.
"""

from typing import TYPE_CHECKING, Any

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary

from .services import RecoveryServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .journal.journal import Written


def write_journal(services: "CoreServices", context: JobContext) -> Summary:
    """Write what has changed into each storage in use. If that is not enough for one, request the job `catalogue`."""
    from frepo_core.services.upkeep.engine.job_requests import store_request

    written = services.feature(RecoveryServices).journal.write_changes(context.check_lease)
    if written.needing:
        store_request(services.database, "catalogue", "system:journal", context.now)
    return _describe(written) | {"needing": list(written.needing)}


def write_catalogue(services: "CoreServices", context: JobContext) -> Summary:
    """Write a catalogue of all that the database knows into each storage in use."""
    return _describe(services.feature(RecoveryServices).journal.write_catalogue(context.check_lease, context.progress))


def _describe(written: "Written") -> dict[str, Any]:
    failed = {"failed": dict(written.failed)} if written.failed else {}
    return {"objects": written.objects, "size": written.size, "keys": written.keys, **failed}


FEATURE = Feature(
    services=RecoveryServices,
    jobs=[
        BuiltinJob(
            name="journal",
            schedule="every 1m",
            lane="short",
            summary="Write what has changed into each storage, for a recovery",
            work=write_journal,
        ),
        BuiltinJob(
            name="catalogue",
            schedule="30 1 * * *",
            lane="medium",
            summary="Write all that the database knows into each storage",
            work=write_catalogue,
        ),
    ],
)
