"""The upload of a version, by either API: decides about it before its content arrives, and stores it."""

from collections.abc import Callable

from frepo_core.services.backups.versions.add_version import AddedVersion, IdempotentVersion, UploadOptions
from frepo_core.services.base.idempotency import RecordedAnswer

from ..base.request import FrepoRequest
from .multipart import is_multipart
from .request_body import ENVELOPE_BYTES, check_content_headers, coding_of, limit_body, read_upload
from .request_headers import last_version_of


def before_add_with(request: FrepoRequest, idempotency: IdempotentVersion | None) -> int | None:
    """Decide about a version before its content arrives, with the Idempotency-Key that the API has found."""
    check_content_headers(request)
    after = last_version_of(request)
    size = _size_of(request)
    add_version, collection = request.services.add_version, request.collection
    with request.services.refusals.recorded(collection, by=request.sender, size=size):
        if idempotency is None:
            add_version.check_policies(collection, size, by=request.sender)
            add_version.rules.refuse_early(collection, size or 0, after=after)
        return limit_body(
            request, add_version.limits(collection, by=request.sender), refuse_early=_early_refusal(request, after)
        )


def _size_of(request: FrepoRequest) -> int | None:
    """Return the size of the content in bytes, as the head says; None: unknown, such as in a form or a coded body."""
    is_wrapped = is_multipart(request.headers.get("Content-Type", "")) or coding_of(request) is not None
    return None if is_wrapped else request.announced


def _early_refusal(request: FrepoRequest, after: int | None) -> Callable[[], bool]:
    """Return a function that refuses the version by what is known before its content arrives."""
    add_version, collection, size = request.services.add_version, request.collection, _size_of(request)

    def refuse_early() -> bool:
        """Check a content of unknown size without the guards, and as the smallest that the body can have."""
        if size is None:
            least = max((request.announced or 0) - ENVELOPE_BYTES, 0) // (2 if coding_of(request) else 1)
            return add_version.rules.refuse_early(collection, least, after=after) is not None
        return add_version.rules.refuse_early(collection, size, after=after, reports=()) is not None

    return refuse_early


def store_version(
    request: FrepoRequest, after: int | None, idempotency: IdempotentVersion | None
) -> AddedVersion | RecordedAnswer:
    """Store the body as a version of the request's collection. Return the recorded answer to a repeated upload."""
    limits = request.services.add_version.limits(request.collection, by=request.sender)
    with read_upload(request, _early_refusal(request, after), limits=limits) as content:
        options = UploadOptions(
            after=after,
            idempotency=idempotency,
            is_decided=request.is_decided,
            room=request.version_room,
            sending=request.sending,
        )
        return request.services.add_version.add(
            request.collection, content.incoming, by=request.sender, options=options
        )
