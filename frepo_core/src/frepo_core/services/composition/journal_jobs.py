"""The jobs that write the journal and the catalogues."""

from collections.abc import Mapping
from typing import Any

from frepo_core.plugins import JobContext

from ..upkeep.engine.job_requests import store_request
from ..upkeep.journal.journal import Written
from .core_services import CoreServices

Summary = Mapping[str, Any]


def write_journal(services: CoreServices, context: JobContext) -> Summary:
    """Write what has changed into each storage in use. If that is not enough for one, request the job `catalogue`."""
    written = services.journal.write_changes(context.check_lease)
    if written.needing:
        store_request(services.database, "catalogue", "system:journal", context.now)
    return _describe_written(written) | {"needing": list(written.needing)}


def write_catalogue(services: CoreServices, context: JobContext) -> Summary:
    """Write a catalogue of all that the database knows into each storage in use."""
    written = services.journal.write_catalogue(context.check_lease, context.progress)
    return _describe_written(written)


def _describe_written(written: Written) -> dict[str, Any]:
    failed = {"failed": dict(written.failed)} if written.failed else {}
    return {"objects": written.objects, "size": written.size, "keys": written.keys, **failed}
