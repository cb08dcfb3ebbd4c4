"""Answers errors: their status codes, their bodies, and the exception views."""

import contextlib
import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pyramid.config import Configurator
from pyramid.exceptions import URLDecodeError
from pyramid.httpexceptions import HTTPException, HTTPForbidden, HTTPNotFound, HTTPPreconditionFailed
from pyramid.response import Response

from frepo_core import errors
from frepo_core.domain.identity import parse_uuid4
from frepo_core.services.access.tokens import NO_ACCESS
from frepo_core.services.files.downloads import BYTES_MISSING

from ..base.request import FrepoRequest
from ..conventions import cors, problems
from ..views.field_names import FIELDS, in_form

log = logging.getLogger(__name__)

STATUS: Mapping[type[errors.FrepoError], int] = {
    errors.AccessDeniedError: 403,
    errors.WrongPasswordError: 403,
    errors.NotFoundError: 404,
    errors.TooManyAttemptsError: 429,
    errors.TooManyExportsError: 429,
    errors.TooManyPreviewsError: 429,
    errors.FieldsError: 400,
    errors.IdInUseError: 400,
    errors.MalformedRequestError: 400,
    errors.RuleError: 400,
    errors.VersionConflictError: 412,
    errors.IdempotencyConflictError: 422,
    errors.RestoreConflictError: 409,
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
    errors.StorageUnavailable: 503,
    errors.StorageFull: 507,
    errors.BytesMissingError: 500,
    errors.BlobNotFound: 500,
}
# Sent instead of the error's own message, which may contain paths, keys and hosts. The log has that one.
PUBLIC_MESSAGES: Mapping[type[errors.FrepoError], str] = {
    errors.ConfigurationError: "The service is not set up for this, its log says what to change",
    errors.StorageUnavailable: "The storage does not work, try again later",
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
    """Return the HTTP status of an error; 500 if it is not in the table."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def error_body(request: FrepoRequest, message: str, number: int, status: int, /, **more: Any) -> Response:
    """Build an error answer: the common keys, then those of the endpoint's envelope."""
    envelope = request.endpoint.envelope if request.endpoint else {}
    body = {"status": message, "error_code": number, "http_code": status, "exit_code": status, **envelope, **more}
    text = json.dumps(body, separators=(",", ":"))
    return Response(f"{text}\n".encode(), status=status, content_type="application/json")


def _error(request: FrepoRequest, message: str, number: int, status: int, **more: Any) -> Response:
    """Build an error answer in the shape of the request's API."""
    build = problems.problem if request.is_v1 else error_body
    return build(request, message, number, status, **more)


def _answer_error(error: errors.FrepoError, request: FrepoRequest) -> Response:
    status = status_of(error)
    if request.is_v1:
        status = problems.status_of(request, error, status)
    request.error_name = type(error).__name__
    if type(error) not in STATUS and not isinstance(error, errors.RuleError):
        return _answer_bug(error, request)
    if status in {401, 403, 429}:
        _log_refusal(request, error)
    if isinstance(error, errors.RemotesBusyError):
        log.warning("refused: %s", error.message)
    elif isinstance(error, (errors.ConfigurationError, errors.StrategyHangsError)):
        log.error("%s", error.message)  # it says what to change: a traceback would only hide that
    elif status >= 500:
        log.error("%s: %s", type(error).__name__, error.message, exc_info=error)
    message = PUBLIC_MESSAGES.get(type(error), error.message)
    if request.is_v1:
        response = problems.answer(request, error, message, status)
    else:
        response = error_body(request, message, error.number, status, **_details(error, request))
    if isinstance(error, errors.TooManyAttemptsError):
        response.retry_after = error.retry_after
    if status == 503:
        response.retry_after = RETRY_SECONDS
    return response


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


def _details(error: errors.FrepoError, request: FrepoRequest) -> dict[str, Any]:
    details: dict[str, Any] = {"context": error.context} if error.context else {}
    if isinstance(error, errors.FieldsError):
        fields = details["fields"] = {in_form(name): texts for name, texts in error.fields.items()}
        if request.endpoint and "errors" in request.endpoint.envelope:
            details["errors"] = {name.removeprefix("form."): texts[0] for name, texts in fields.items()}
    if explanation := error.explain(FIELDS):
        details["message"] = explanation
    if isinstance(error, errors.RemoteError):
        details["message"] = error.reason
    if isinstance(error, errors.RuleError):
        field = FIELDS[error.field]
        details |= {"field": field, "errors": {field: error.text}}
    return details


def _answer_http_error(error: HTTPException, request: FrepoRequest) -> Response:
    if error.code < 400:
        return error
    request.error_name = type(error).__name__
    if isinstance(error, HTTPForbidden):
        refusal = "No access: the token lacks the role for this" if request.identity else NO_ACCESS
        _log_refusal(request, errors.AccessDeniedError(refusal))
        return _error(request, refusal, 403, 403 if request.identity or not request.is_v1 else 401)
    if request.is_v1 and isinstance(error, HTTPNotFound):
        cors.allow_origin(request)  # no route has done it
    message = "There is nothing at this path" if isinstance(error, HTTPNotFound) else error.title
    if allowed := error.headers.get("Allow"):
        message = f"{message}: this path knows {allowed}"
    if request.is_v1 and error.detail and isinstance(error, HTTPPreconditionFailed):
        message = error.detail
    response = _error(request, message, error.code, error.code)
    for name in ("Allow", "Content-Range"):
        if name in error.headers:
            response.headers[name] = error.headers[name]
    return response


def _answer_bad_path(error: URLDecodeError, request: FrepoRequest) -> Response:
    request.error_name = type(error).__name__
    return _error(request, "The path is not UTF-8", 400, 400)


def _answer_bug(error: Exception, request: FrepoRequest) -> Response:
    """Answer a bug with an id that is in the log, too. Clients never get a traceback."""
    request.error_name = type(error).__name__
    error_id = str(uuid.uuid4())
    log.error("error %s: %s", error_id, error, exc_info=error)
    return _error(request, "Internal error, the log of the service knows more", 500, 500, error_id=error_id)
