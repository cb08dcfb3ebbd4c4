"""The check `wal_base`: compares a base backup with its manifest before anything is deleted for it."""

from typing import Any

from frepo_core.plugins import (
    CheckResult,
    Finding,
    JobContext,
    LeaseLost,
    NotFoundError,
    PendingCheck,
    PluginContext,
    UploadedContent,
)

from .bases import examine
from .settings import BASE_CHECK, JOB

# A larger one is compared by the job, in bytes.
_INLINE = 64 << 20
_AT_ONCE = 100


def check(content: UploadedContent, context: PluginContext) -> CheckResult:
    """Compare a content with its manifest, or leave that to the job."""
    if content.size > _INLINE:
        return CheckResult(outcome="pending", message="The job wal compares it with its manifest")
    with content.open() as file:
        found = examine(context.service, content.sha256, file)
    if found["damaged"]:
        raise Finding(_message(found))
    return CheckResult(outcome="not checked" if found["wrong"] else "good", message=_message(found), covers="content")


def check_pending(context: JobContext) -> None:
    """Compare the base backups whose upload did not wait for that. One that cannot be read now stays pending."""
    tried: list[str] = []
    while pending := context.service.pending_checks(BASE_CHECK, limit=_AT_ONCE, without=tried):
        for one in pending:
            tried.append(one.version_id)
            context.check_lease()
            try:
                _check_later(one, context)
            except LeaseLost:
                raise
            except Exception as error:  # whatever a storage raises, the others are checked
                text = "Version %s of collection %s cannot be compared with its manifest now: %s"
                context.log.warning(text, one.version_number, one.collection_id, error, exc_info=True)


def _check_later(one: PendingCheck, context: JobContext) -> None:
    service = context.service
    try:
        with service.attempt(one, job=JOB) as is_due:
            if not is_due:
                return
            version = service.version(one.collection_id, one.version_number)
            with service.open_version(one.collection_id, one.version_number) as file:
                found = examine(service, version.sha256, file)
            outcome: Any = "broken" if found["damaged"] else "not checked" if found["wrong"] else "good"
            service.record_check(one, outcome, _message(found), job=JOB, covers="content")
    except NotFoundError:  # it was deleted
        return


def _message(found: dict[str, Any]) -> str:
    return f"As a base backup: {found['wrong']}" if found["wrong"] else ""
