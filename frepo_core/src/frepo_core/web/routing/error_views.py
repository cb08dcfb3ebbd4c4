"""Answers errors: their status codes, their bodies, and the exception views."""

import contextlib
import logging
import uuid
from collections.abc import Mapping
from dataclasses import replace

from pyramid.config import Configurator
from pyramid.exceptions import URLDecodeError
from pyramid.httpexceptions import HTTPException, HTTPForbidden, HTTPNotFound
from pyramid.response import Response

from frepo_core import errors
from frepo_core.domain.identity import parse_uuid4
from frepo_core.services.access.tokens import NO_ACCESS
from frepo_core.services.base.log_records import is_outage
from frepo_core.services.content.blobs.stored_content import BYTES_MISSING

from ..base.dialect import dialect_of
from ..base.request import FrepoRequest

log = logging.getLogger(__name__)

STATUS: Mapping[type[errors.FrepoError], int] = {
    errors.AccessDeniedError: 403,
    errors.WrongPasswordError: 403,
    errors.NotFoundError: 404,
    errors.TooManyAttemptsError: 429,
    errors.TooManyExportsError: 429,
    errors.TooManyPreviewsError: 429,
    errors.EnrolmentCodeError: 410,
    errors.TokenReplacedError: 409,
    errors.FieldsError: 400,
    errors.IdInUseError: 400,
    errors.MalformedRequestError: 400,
    errors.BodyEndedError: 400,
    errors.RuleError: 400,
    errors.VersionConflictError: 412,
    errors.IdempotencyConflictError: 422,
    errors.RestoreConflictError: 409,
    errors.StoreConflictError: 409,
    errors.TypeNotAllowedError: 400,
    errors.TooBigError: 400,
    errors.EmptyContentError: 400,
    errors.DigestMismatchError: 400,
    errors.RemoteStatusError: 400,
    errors.RemoteRefusedError: 400,
    errors.RemoteFailedError: 400,
    errors.ReadOnlyError: 503,
    errors.RemotesBusyError: 503,
    errors.ConfigurationError: 503,
    errors.DatabaseUnavailableError: 503,
    errors.OutdatedDecisionError: 503,
    errors.StrategyHangsError: 503,
    errors.PolicyFailedError: 503,
    errors.ReadersBusyError: 503,
    errors.BlobDamaged: 503,
    errors.DamagedObjectError: 503,
    errors.DamagedBaseError: 503,
    errors.StorageUnavailable: 503,
    errors.StorageFull: 507,
    errors.BytesMissingError: 500,
    errors.BlobNotFound: 500,
}
# Sent instead of the error's own message, which may contain paths, keys and hosts. The log has that one.
PUBLIC_MESSAGES: Mapping[type[errors.FrepoError], str] = {
    errors.ConfigurationError: "The service is not set up for this, its log says what to change",
    errors.StorageUnavailable: "The storage does not work, try again later",
    errors.BlobDamaged: "The storage does not work, try again later",
    errors.DamagedObjectError: "The storage does not work, try again later",
    errors.DamagedBaseError: "The storage does not work, try again later",
    errors.BlobNotFound: BYTES_MISSING,
}
RETRY_SECONDS = 30


def includeme(config: Configurator) -> None:
    """Register the exception views: frepo's errors, Pyramid's errors, paths that are not UTF-8, and bugs."""
    config.add_exception_view(_answer_error, context=errors.FrepoError)
    config.add_exception_view(_answer_http_error, context=HTTPException)
    config.add_exception_view(_answer_bad_path, context=URLDecodeError)
    config.add_exception_view(_answer_bug, context=Exception)


def status_of(error: errors.FrepoError) -> int:
    """Return the HTTP status of an error; 500 if it is not in the table and has none of its own."""
    if isinstance(error, errors.EndpointError):
        return error.status
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _answer_error(error: errors.FrepoError, request: FrepoRequest) -> Response:
    dialect = dialect_of(request)
    status = dialect.status_of(request, error, status_of(error))
    request.error_name = type(error).__name__
    if type(error) not in STATUS and not isinstance(error, (errors.RuleError, errors.EndpointError)):
        return _answer_bug(error, request)
    if status in {401, 403, 429}:
        _log_refusal(request, error)
    if isinstance(error, (errors.RemotesBusyError, errors.ReadersBusyError)) or (
        isinstance(error, errors.EndpointError) and status >= 500
    ):
        log.warning("refused: %s", error.message)
    elif isinstance(error, (errors.ConfigurationError, errors.PolicyFailedError, errors.StrategyHangsError)):
        log.error("%s", error.message)  # it says what to change: a traceback would only hide that
    elif is_outage(error):
        if not error.is_logged:
            log.error(
                "%s %s from %s: %d",
                request.method,
                _known_path(request),
                request.client_address,
                status,
                exc_info=error,
            )
    elif status >= 500:
        log.error("%s: %s", type(error).__name__, error.message, exc_info=error)
    response = dialect.answer_error(request, error, PUBLIC_MESSAGES.get(type(error), error.message), status)
    if isinstance(error, errors.TooManyAttemptsError):
        response.retry_after = error.retry_after
    if status == 503:
        response.retry_after = RETRY_SECONDS
    if isinstance(error, errors.EndpointError):
        response.headers.update(error.headers)
    return response


def _known_path(request: FrepoRequest) -> str:
    """Return the path with the collection only: another part of it, or the query, may be a token."""
    if request.matched_route is None:
        return "(no route)"
    pattern: str = request.matched_route.pattern
    collection = parse_uuid4(request.matchdict.get("collection", "").lower())
    return pattern.replace("{collection}", str(collection)) if collection else pattern


def _log_refusal(request: FrepoRequest, error: errors.FrepoError) -> None:
    """Log who was refused what. The path is left out: it may contain a token."""
    what = request.endpoint.name if request.endpoint else request.method
    who = request.services.tokens.fingerprint(request.token_id) if request.token_id else "none"
    log.warning("refused: %s from %s, token %s: %s", what, request.client_address, who, error.message)
    if request.endpoint and request.endpoint.permission == "version.upload" and request.token_id:
        _record_refusal(request, error)


def _record_refusal(request: FrepoRequest, error: errors.FrepoError) -> None:
    """Record that a token that exists, valid or not, may not upload a version."""
    services, collection_id = request.services, parse_uuid4(request.matchdict["collection"].lower())
    with contextlib.suppress(errors.FrepoError):
        known = replace(services.tokens.look_up(request.token_id), address=request.client_address)
        if collection_id is not None:
            services.refusals.record(collection_id, error, by=known)


def _answer_http_error(error: HTTPException, request: FrepoRequest) -> Response:
    if error.code < 400:
        return error
    request.error_name = type(error).__name__
    dialect = dialect_of(request)
    if isinstance(error, HTTPForbidden):
        refusal = errors.AccessDeniedError(
            "No access: the token lacks the role for this" if request.identity else NO_ACCESS
        )
        _log_refusal(request, refusal)
        return dialect.answer_text(request, refusal.message, 403, dialect.status_of(request, refusal, 403))
    message = dialect.text_of(error)
    if isinstance(error, HTTPNotFound):
        if request.matched_route is None:
            dialect.begin(request)
        message = "There is nothing at this path"
    if allowed := error.headers.get("Allow"):
        message = f"{message}: this path knows {allowed}"
    response = dialect.answer_text(request, message, error.code, error.code)
    for name in ("Allow", "Content-Range"):
        if name in error.headers:
            response.headers[name] = error.headers[name]
    return response


def _answer_bad_path(error: URLDecodeError, request: FrepoRequest) -> Response:
    request.error_name = type(error).__name__
    return dialect_of(request).answer_text(request, "The path is not UTF-8", 400, 400)


def _answer_bug(error: Exception, request: FrepoRequest) -> Response:
    """Answer a bug with an id that is in the log, too. Clients never get a traceback."""
    request.error_name = type(error).__name__
    error_id = str(uuid.uuid4())
    log.error("error %s: %s", error_id, error, exc_info=error)
    text = "Internal error, the log of the service knows more"
    return dialect_of(request).answer_text(request, text, 500, 500, error_id=error_id)
