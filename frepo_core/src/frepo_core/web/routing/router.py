"""Registers endpoints with Pyramid, and does for each what all have in common before and after its view."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from pyramid.config import Configurator
from pyramid.httpexceptions import HTTPForbidden, HTTPMethodNotAllowed
from pyramid.response import Response

from frepo_core.errors import MalformedRequestError, ReadOnlyError

from ..content.json_body import JSON_BYTES
from ..schemas.validation import parse_body, parse_query
from .context import Context, collection_context, make_context
from .endpoint import Answer, Endpoint
from .request import FrepoRequest
from .server_hooks import DECISION, Decision


def add_endpoints(config: Configurator, endpoints: Iterable[Endpoint]) -> None:
    """Add one route for each path, and the one view.

    Pyramid would find the view of a method by asking those of the others first, each of which raises its refusal.
    """
    paths: dict[str, list[Endpoint]] = defaultdict(list)
    for endpoint in endpoints:
        paths[endpoint.path].append(endpoint)
    for path, on_path in paths.items():
        config.add_route(path, path, factory=_make_factory(on_path))
        config.add_view(_view, route_name=path)
    config.registry.endpoints = [*getattr(config.registry, "endpoints", ()), *(e for on in paths.values() for e in on)]


def _make_factory(on_path: list[Endpoint]) -> Callable[[FrepoRequest], Context]:
    """Make the context factory of a path: from here on, errors know the endpoint that they are about.

    A method that the path does not know is refused here, whatever the path names.
    """
    endpoints = {endpoint.method: endpoint for endpoint in on_path}
    # HEAD is for looking: a GET that changes something has none.
    if "GET" in endpoints and not endpoints["GET"].writes:
        endpoints["HEAD"] = endpoints["GET"]
    allowed = ", ".join(sorted(endpoints))

    def factory(request: FrepoRequest) -> Context:
        request.endpoint = endpoints.get(request.method)
        if request.endpoint is None:
            raise HTTPMethodNotAllowed(headers={"Allow": allowed})
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
        request.parsed_body = parse_body(endpoint.body, request)
    if endpoint.collection_field and endpoint.permission:
        request.context = collection_context(request, getattr(request.parsed_body, endpoint.collection_field))
        _permit(request, endpoint.permission)
    answer = endpoint.view(request)
    return to_response(answer) if isinstance(answer, Answer) else answer


def _check(endpoint: Endpoint, request: FrepoRequest) -> None:
    """Refuse what needs no look at the body: by the token, the permission, the read-only mode and the query."""
    if endpoint.permission is not None:
        # What the body is about is not known yet.
        _permit(request, "token" if endpoint.collection_field else endpoint.permission)
    elif request.token_id:
        request.sender  # noqa: B018  # a bad token that is sent along is refused on public endpoints, too
    if endpoint.writes and request.services.settings.read_only:
        raise ReadOnlyError("The service is in read-only mode, nothing can be changed now")
    if endpoint.query:
        request.parsed_query = parse_query(endpoint.query, request.params_in_query)


def _decide(endpoint: Endpoint, request: FrepoRequest, decision: Decision) -> None:
    """Decide about the body. Raises what the endpoint refuses without it."""
    limit = None if endpoint.content else JSON_BYTES
    if endpoint.before_body:
        limit = endpoint.before_body(request)
    if endpoint.takes_body and limit is not None and (request.content_length or 0) > limit:
        raise MalformedRequestError(f"The {'JSON ' if endpoint.body else ''}body is larger than {limit} bytes")
    decision.needs_body, decision.max_body, decision.is_made = endpoint.takes_body, limit, True


def _permit(request: FrepoRequest, permission: str) -> None:
    """Ask the policy, for what the request is about as far as that is known."""
    if not request.has_permission(permission):
        raise HTTPForbidden


def to_response(answer: Answer) -> Response:
    """Write an answer as JSON."""
    body = answer.body.model_dump_json(by_alias=True)
    response = Response(body=body.encode(), status=answer.status, content_type="application/json")
    response.headers.update(answer.headers)
    return response
