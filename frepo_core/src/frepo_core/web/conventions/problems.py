"""Answers errors below `/api/v1` as problem details (RFC 9457)."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field
from pyramid.response import Response

from frepo_core import errors
from frepo_core.error_explanations import explain

from ..base.request import V1, FrepoRequest
from ..schemas.models import Reply

MEDIA = "application/problem+json"
# Statuses that differ from those of the first API.
STATUS: Mapping[type[errors.FrepoError], int] = {
    errors.IdInUseError: 409,
    errors.CollectionNotEmptyError: 409,
    errors.CollectionSizeBelowContentError: 409,
    errors.CollectionFullError: 409,
    errors.DuplicateVersionError: 409,
    errors.VersionTooYoungError: 409,
    errors.VersionPinnedError: 409,
    errors.VersionLockedError: 409,
    errors.CollectionHeldError: 409,
    errors.LockShortenedError: 409,
    errors.PinsLeaveNoRoomError: 409,
    errors.PolicyRefusedError: 409,
    errors.VersionQuarantinedError: 409,
    errors.VersionTooBigError: 413,
    errors.TooBigError: 413,
    errors.TypeNotAllowedError: 415,
    errors.VersionTooSmallError: 422,
    errors.VersionShrankError: 422,
    errors.VersionGrewError: 422,
    errors.VersionDeclineError: 422,
    errors.VersionKindError: 422,
    errors.VersionUnchangedError: 422,
    errors.UploadCheckError: 422,
}
TITLES: Mapping[int, str] = {
    400: "The request is not valid",
    401: "A valid token is needed",
    403: "The token may not do this",
    404: "It does not exist",
    405: "This path does not have this method",
    409: "The state of the resource does not allow this",
    410: "It is gone",
    412: "The resource was changed meanwhile",
    413: "The content is too large",
    415: "The type of the content is not allowed",
    416: "The range is not in the content",
    422: "The content is refused",
    423: "It is locked",
    429: "Too many attempts",
    431: "The URL or the headers are too long",
    500: "The service failed",
    501: "The service does not know this coding",
    503: "The service is not available now",
    507: "There is no room left",
}
WRONG_PASSWORD = "The password is missing or wrong"


class FieldProblem(Reply):
    """A wrong field: its path in the body with dots, or the name of a parameter or a header."""

    field: str = Field(examples=["limits.versions"])
    message: str


class Problem(Reply):
    """An error (RFC 9457). `code` is a stable number; `type` is the page that explains it.

    `errors` has all wrong fields. `context` has values of the refusal, such as the largest allowed number. `error_id`
    is the id of a bug in the service's log.
    """

    type: str
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    code: int = Field(examples=[404])
    errors: list[FieldProblem] = Field(default_factory=list)
    context: dict[str, Any] | None = None
    error_id: str | None = None


def problem(
    request: FrepoRequest,
    detail: str,
    code: int,
    status: int,
    *,
    title: str | None = None,
    wrong: Iterator[FieldProblem] | tuple[FieldProblem, ...] = (),
    context: Mapping[str, Any] | None = None,
    error_id: str | None = None,
) -> Response:
    """Return an error answer with the `title` of its status by default. A 401 names the scheme of authentication
    (RFC 9110, 11.6.1; RFC 6750, 3).
    """
    body = Problem(
        type=request.link(f"{V1}/doc#error-{code}"),
        title=title or _title(status),
        status=status,
        detail=detail,
        code=code,
        errors=list(wrong),
        context=dict(context) if context else None,
        error_id=error_id,
    )
    response = Response(_json(body), status=status, content_type=MEDIA, charset=None)
    if status == 401:
        response.headers["WWW-Authenticate"] = 'Bearer error="invalid_token"' if request.token_id else "Bearer"
    return response


def server_problem(detail: str, status: int, base_path: str = "") -> bytes:
    """Return the body for a request that the server could not parse. Its host is unknown: `type` is relative."""
    link = f"{base_path}{V1}/doc#error-{status}"
    return _json(Problem(type=link, title=_title(status), status=status, detail=detail, code=status))


def _title(status: int) -> str:
    return TITLES.get(status, "The request was refused")


def _json(body: Problem) -> bytes:
    return f"{body.model_dump_json(exclude_none=True)}\n".encode()


def status_of(request: FrepoRequest, error: errors.FrepoError, default: int) -> int:
    """Return the status of an error; `default` is the one of the first API."""
    if default == 403 and not request.is_authenticated:
        return 401
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), default)


def answer(request: FrepoRequest, error: errors.FrepoError, message: str, status: int) -> Response:
    """Return the answer for an error of the services; `message` is what clients may read of it."""
    if isinstance(error, errors.WrongPasswordError):
        return problem(request, _password_needed(request), error.number, status, title=WRONG_PASSWORD)
    wrong = tuple(_wrong_fields(error))
    return problem(request, detail_of(error, message), error.number, status, wrong=wrong, context=error.context)


def detail_of(error: errors.FrepoError, message: str) -> str:
    """Return an error of the services as a sentence for people; `message` is what clients may read of it."""
    wrong = tuple(_wrong_fields(error))
    if error.sentence and not error.explanation:
        return error.sentence
    if isinstance(error, errors.RemoteError):
        return f"{message}: {error.reason}"
    if len(wrong) == 1 and not error.explanation:
        return f"{wrong[0].field}: {wrong[0].message}"
    if len(wrong) > 1:
        return f"{len(wrong)} fields are not valid: {', '.join(one.field for one in wrong)}"
    return error.explanation or message


def _password_needed(request: FrepoRequest) -> str:
    if request.password_in_header:
        return "The password in the header X-File-Password is not that of the file"
    return "The file has a password: send it in the header X-File-Password"


def _wrong_fields(error: errors.FrepoError) -> Iterator[FieldProblem]:
    for one in (error, *error.others):
        yield from _wrong_fields_of(one)


def _wrong_fields_of(error: errors.FrepoError) -> Iterator[FieldProblem]:
    if isinstance(error, errors.RuleError):
        yield FieldProblem(field=error.field, message=error.explanation or error.text)
    elif isinstance(error, errors.FieldsError):
        for field, texts in error.fields.items():
            for text in texts:
                yield FieldProblem(field=field, message=explain(text, error.context) or text)
