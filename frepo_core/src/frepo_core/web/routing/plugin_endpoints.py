"""Checks the endpoints of plug-ins at the start, so that an invalid one does not fail at its first request."""

import logging
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, update_wrapper
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel
from pyramid.httpexceptions import HTTPException
from pyramid.response import Response

from frepo_core.domain.permissions import RULES
from frepo_core.errors import ConfigurationError, FrepoError, PluginError
from frepo_core.plugins.context import PluginContext
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.services.base.plugin_failures import (
    PLUGIN_FAILURES,
    call_with_context,
    describe_failure,
    raise_interrupt,
)

from ..base.body_sink import BodySink
from ..base.endpoint import Answer, Endpoint
from ..base.request import FrepoRequest

log = logging.getLogger(__name__)

Argument = TypeVar("Argument")
Result = TypeVar("Result")
# The server reads no body of these; the answers of others have the same form with another method.
_WITHOUT_BODY = frozenset({"GET", "HEAD"})
_OVERRIDABLE = frozenset({"PATCH", "PUT", "DELETE"})
_SUCCESSES = frozenset(status.value for status in HTTPStatus if 200 <= status < 400)


def plugin_endpoints(
    found: Iterable[FoundPlugin], own: Iterable[Endpoint], contexts: Mapping[str, PluginContext]
) -> list[Endpoint]:
    """Return the endpoints of the plug-ins; `own` are those of the service.

    Raises `ConfigurationError` that names the package of an invalid endpoint.
    """
    own = list(own)
    owners = {_route(endpoint): "frepo-core" for endpoint in own}
    names = {endpoint.name: "frepo-core" for endpoint in own}
    endpoints = []
    for plugin in found:
        context = contexts.get(plugin.name)
        for endpoint in plugin.endpoints(context):
            if problem := _problem(endpoint, owners, names):
                raise ConfigurationError(
                    f"The plug-in {plugin.name!r} of the package {plugin.distribution} declares an endpoint that "
                    f"cannot be served: {problem}."
                )
            owners[_route(endpoint)] = names[endpoint.name] = plugin.distribution
            endpoints.append(_guarded(endpoint, plugin, context))
    return endpoints


def _guarded(endpoint: Endpoint, plugin: FoundPlugin, context: PluginContext | None) -> Endpoint:
    """Return the endpoint with functions whose failures name the plug-in; they get the context if they take it."""
    origin = f"the endpoint {endpoint.name!r} ({plugin.origin})"
    call = partial(call_with_context, endpoint.view, context)
    view = update_wrapper(partial(_answer, origin, call), endpoint.view)
    before_body = None
    if endpoint.before_body:
        before_body = partial(_call, origin, partial(call_with_context, endpoint.before_body, context))
    body_sink = None
    if endpoint.body_sink:
        body_sink = partial(_open_sink, origin, partial(call_with_context, endpoint.body_sink, context))
    return replace(endpoint, view=view, before_body=before_body, body_sink=body_sink, package=plugin.distribution)


class _GuardedSink:
    """A sink whose failures name the plug-in. `own` is that of the plug-in, which its view gets."""

    def __init__(self, origin: str, own: BodySink) -> None:
        self.own = own
        self._origin = origin

    def write(self, piece: bytes) -> None:
        _call(f"the sink of {self._origin}", self.own.write, piece)

    def ended(self, ok: bool) -> None:
        _call(f"the sink of {self._origin}", self.own.ended, ok)


def _open_sink(origin: str, open_sink: Callable[[FrepoRequest], object], request: FrepoRequest) -> BodySink:
    """Open the sink of a body. Raises `PluginError` if it is none."""
    sink = _call(origin, open_sink, request)
    if not isinstance(sink, BodySink):
        raise PluginError(f"{origin} answered body_sink() with {sink!r}, which is no frepo_core.web.BodySink")
    return _GuardedSink(origin, sink)


def _answer(origin: str, view: Callable[[FrepoRequest], object], request: FrepoRequest) -> Answer | Response:
    """Call a view. Raises `PluginError` if it returns something else than an answer."""
    if isinstance(request.body_sink, _GuardedSink):
        request.body_sink = request.body_sink.own
    answer = _call(origin, view, request)
    if isinstance(answer, Answer):
        if not isinstance(answer.body, BaseModel | None):
            raise PluginError(f"{origin} answered an Answer with the body {answer.body!r}, which is no Reply")
        return answer
    if not isinstance(answer, Response):
        raise PluginError(f"{origin} answered {answer!r}, which is neither a frepo_core.web.Answer nor a Response")
    if isinstance(answer.app_iter, Generator):
        answer.app_iter = _guarded_body(origin, answer.app_iter)
    return answer


def _guarded_body(origin: str, body: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a body that is made while it is sent. The log of a failure names the plug-in."""
    try:
        yield from body
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        log.error("the body of %s failed: %s", origin, describe_failure(error))
        raise


def _call(origin: str, function: Callable[[Argument], Result], argument: Argument) -> Result:
    try:
        return function(argument)
    except (FrepoError, HTTPException):
        raise
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        raise PluginError(f"{origin} failed: {describe_failure(error)}") from error


def _problem(endpoint: object, owners: dict[tuple[str, str], str], names: dict[str, str]) -> str:
    if not isinstance(endpoint, Endpoint):
        return f"{endpoint!r} is no frepo_core.web.Endpoint"
    name = f"{endpoint.method} {endpoint.path}"
    if _route(endpoint) in owners:
        return f"{name} belongs to {owners[_route(endpoint)]}"
    if endpoint.name in names:
        return f"the name {endpoint.name!r} of {name} belongs to an endpoint of {names[endpoint.name]}"
    if endpoint.permission is not None and endpoint.permission not in RULES:
        return f"{name} has the unknown permission {endpoint.permission!r}. Permissions: {', '.join(sorted(RULES))}"
    if unknown := sorted(status for status in endpoint.answers if not (status in _SUCCESSES or 400 <= status < 600)):
        return (
            f"{name} answers the status {unknown[0]}. Statuses: {', '.join(map(str, sorted(_SUCCESSES)))}, 400 to 599"
        )
    if foreign := sorted(one for one in endpoint.parameters if f"{{{one}}}" not in endpoint.path):
        return f"{name} describes the parameter {foreign[0]!r}, which its path does not have"
    if endpoint.body_sink and (endpoint.body or endpoint.content or endpoint.method in _WITHOUT_BODY):
        return f"{name} has a body_sink. An endpoint with one has neither body nor content, and is no GET or HEAD"
    if endpoint.method_override and endpoint.method not in _OVERRIDABLE:
        return f"{name} has method_override, which is for {', '.join(sorted(_OVERRIDABLE))}"
    return ""


def _route(endpoint: Endpoint) -> tuple[str, str]:
    """Return what must be unique: method and path. The names of placeholders do not count."""
    return endpoint.method, re.sub(r"{[^}]*}", "{}", endpoint.path)
