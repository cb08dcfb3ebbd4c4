"""The endpoints of the runs of a collection's backup job, as its clients report them."""

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...conventions.answers import created
from ...conventions.paging import next_cursor, page_request
from .collections import COLLECTION, COLLECTIONS
from .run_models import BackupRun, BackupRunPage, BackupRunQuery, NewBackupRun

RUNS = f"{COLLECTION}/runs"


def list_runs(request: FrepoRequest) -> Answer:
    """List the runs of the backup job, the newest first."""
    query = request.query_as(BackupRunQuery)
    page = request.services.runs.page(request.collection.id, page_request(query), query.outcome)
    return Answer(body=BackupRunPage(items=[BackupRun.of(one) for one in page.items], next=next_cursor(query, page)))


def report_run(request: FrepoRequest) -> Answer:
    """Report a run of the backup job: what the service cannot see, such as the exit status of a dump.

    After a failed run, the state of the collection is `failed`, until the next good version.
    """
    run = request.body_as(NewBackupRun).run()
    body = BackupRun.of(request.services.run_reports.record(request.collection.id, run, by=request.sender))
    return created(request, f"{COLLECTIONS}/{request.collection.id}/runs", body)


ENDPOINTS = [
    Endpoint(
        name="list_backup_runs",
        method="GET",
        path=RUNS,
        view=list_runs,
        summary="List the runs of the backup job",
        permission="version.list",
        query=BackupRunQuery,
        answers={200: BackupRunPage},
    ),
    Endpoint(
        name="report_backup_run",
        method="POST",
        path=RUNS,
        view=report_run,
        summary="Report a run of the backup job",
        permission="version.upload",
        body=NewBackupRun,
        writes=True,
        answers={201: BackupRun},
    ),
]
