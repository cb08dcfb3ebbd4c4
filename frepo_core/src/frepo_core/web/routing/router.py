"""Registers endpoints with Pyramid, and runs the common steps before and after their views."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPForbidden
from pyramid.response import Response

from frepo_core.errors import MalformedRequestError, ReadOnlyError

from ..base.context import Context, collection_context, make_context
from ..base.dialect import dialect_of
from ..base.endpoint import Answer, Endpoint
from ..base.path_headers import PathHeaders
from ..base.request import LISTED, NOTED, SENDER, UPLOAD_TO, FrepoRequest
from ..schemas.json_body import JSON_BYTES
from ..views.answer_cache import Decorator
from .body_reception import RECEPTION, open_reception, receive_body
from .server_hooks import DECISION, Decision


def add_endpoints(config: Configurator, endpoints: Iterable[Endpoint], decorators: Mapping[str, Decorator]) -> None:
    """Add a route for each path; all routes share one view, which Pyramid finds by their contexts.

    With a view for each method, Pyramid would try them in turn, and each would raise an exception first; making one for
    each route takes a twentieth of the start. `decorators` are those of the view by path.
    """
    paths: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in endpoints:
        paths[endpoint.path].append(endpoint)
    for path, on_path in paths.items():
        config.add_route(path, path, factory=_make_factory(on_path), use_global_views=True)
        if path in decorators:
            config.add_view(_view, route_name=path, decorator=decorators[path])
    config.add_view(_view, context=Context)
    config.registry.endpoints = [*getattr(config.registry, "endpoints", ()), *(e for on in paths.values() for e in on)]


def _make_factory(on_path: list[Endpoint]) -> Callable[[FrepoRequest], Context]:
    """Return the context factory of a path. It sets the request's endpoint, which errors need.

    It refuses unknown methods (405) before anything is loaded.
    """
    endpoints = {endpoint.method: endpoint for endpoint in on_path}
    # HEAD must be safe (RFC 9110, 9.3.2): a GET that changes something has no HEAD.
    if "GET" in endpoints and not endpoints["GET"].writes:
        endpoints.setdefault("HEAD", endpoints["GET"])
    path = PathHeaders.of(", ".join(sorted(endpoints)), on_path)

    def factory(request: FrepoRequest) -> Context:
        request.endpoint = endpoints.get(request.method) if path.override_method(request) else None
        path.add_to_errors(request)
        dialect = dialect_of(request)
        dialect.begin(request, path)
        if request.endpoint is None:
            raise dialect.refuse_method(request, path)
        request.check_host()
        return make_context(request)

    return factory


def _view(context: Context, request: FrepoRequest) -> Response:
    endpoint: Endpoint = request.endpoint
    _check(endpoint, request)
    if decision := request.environ.get(DECISION):
        _decide(endpoint, request, decision)
        return Response(status=204)
    if endpoint.body:
        request.parsed_body = dialect_of(request).parse_body(endpoint.body, request)
    if endpoint.collection_field and endpoint.permission:
        request.context = collection_context(request, getattr(request.parsed_body, endpoint.collection_field))
        _check_permission(request, endpoint.permission)
    if endpoint.body_sink:
        receive_body(endpoint, request)
    answer = endpoint.view(request)
    if not isinstance(answer, Answer):
        return answer
    return dialect_of(request).finish(request, _to_response(request, answer))


def _check(endpoint: Endpoint, request: FrepoRequest) -> None:
    """Check what does not need the body: the token, the permission, the read-only mode and the query."""
    if endpoint.permission is not None:
        # The collection is in the body, which is not parsed yet.
        _check_permission(request, "token" if endpoint.collection_field else endpoint.permission)
    elif request.token_id and not endpoint.ignores_token:
        request.sender  # noqa: B018  # public endpoints refuse invalid tokens, too
    if endpoint.writes and request.services.settings.read_only:
        raise ReadOnlyError("The service is in read-only mode, nothing can be changed now")
    dialect_of(request).parse_query(endpoint, request)


def _decide(endpoint: Endpoint, request: FrepoRequest, decision: Decision) -> None:
    """Decide whether the body may be sent. Raises the endpoint's errors that do not need it."""
    limit = None if endpoint.content or endpoint.body_sink else JSON_BYTES
    if endpoint.before_body:
        limit = endpoint.before_body(request)
    if endpoint.takes_body and not endpoint.body_sink and limit is not None and (request.content_length or 0) > limit:
        raise MalformedRequestError(f"The {'JSON ' if endpoint.body else ''}body is larger than {limit} bytes")
    if request.context.collection:
        decision.environ[NOTED] = request.context.collection.last_number
        decision.environ[UPLOAD_TO] = request.context.collection.id if endpoint.content else None
    if not endpoint.ignores_token and request.identity:
        decision.environ |= {SENDER: request.identity, LISTED: request.context.listed}
        decision.owner = request.identity.token
    if endpoint.content and request.next_step is None and (buffer := request.buffer) is not None:
        request.next_step = request.services.arrivals.next_step(buffer, request.announced or 0, request.arrived)
    if endpoint.body_sink:
        decision.sink = decision.environ[RECEPTION] = open_reception(endpoint, request, limit)
        decision.owner = request.body_owner or decision.owner
        limit = None  # the reception counts
    sizes = [size for size in (limit, request.next_step) if size is not None]
    decision.needs_body, decision.max_body, decision.is_made = endpoint.takes_body, min(sizes, default=None), True


def _check_permission(request: FrepoRequest, permission: str) -> None:
    """Raise `HTTPForbidden` unless the policy permits the request in its current context."""
    if not request.has_permission(permission):
        raise HTTPForbidden


def _to_response(request: FrepoRequest, answer: Answer) -> Response:
    """Serialize an answer as JSON; one without a body is empty."""
    headers = answer.headers
    path = headers.get("Location", "")
    if path.startswith("/") and not path.startswith("//"):  # WebOb would take the host of the request, and no prefix
        headers = {**headers, "Location": request.link(path)}
    if answer.body is None:
        return Response(status=answer.status, headerlist=list(headers.items()))
    body = answer.body.model_dump_json(by_alias=True) + "\n"  # a shell's prompt begins on a line of its own
    response = Response(body=body.encode(), status=answer.status, content_type="application/json")
    response.headers.update(headers)
    return response
