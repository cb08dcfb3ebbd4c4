"""A view is called once, however large the body is, and only if the request was not refused before."""

import json
import threading
from dataclasses import replace

import pytest
from waitress import wasyncore

from frepo_core.errors import RuleError
from frepo_core.plugins.registry import FoundPlugin, PluginRegistry
from frepo_core.web import Answer, Endpoint, Reply, make_app
from frepo_server.channel import make_server
from support.wire import Wire, chunked, head

LARGE = 3_000_000


class CountReply(Reply):
    calls: int
    length: int


@pytest.fixture
def calls():
    """The lengths of the bodies that the plug-in's view was called with."""
    return []


@pytest.fixture
def endpoint(calls):
    """A view that writes before it reads its body, which plug-ins may do."""

    def view(request):
        calls.append(None)
        calls[-1] = len(request.body_file.read())
        return Answer(body=CountReply(calls=len(calls), length=calls[-1]))

    return Endpoint(
        name="count",
        method="POST",
        path="/count",
        view=view,
        summary="Count",
        permission="token",
        content=True,
        writes=True,
        answers={200: CountReply},
    )


@pytest.fixture
def serve(services):
    """Serve an endpoint of a plug-in; return what sends requests to it."""
    running = []

    def serve(endpoint):
        plugin = FoundPlugin(
            name="count",
            distribution="frepo-count",
            version="1",
            storages=[],
            strategies=[],
            endpoints=lambda context: [endpoint],
        )
        registry = PluginRegistry([*services.plugins.found, plugin])
        app = make_app(replace(services, plugins=registry))
        server = make_server(app, app.server_hooks, listen="127.0.0.1:0")
        running.append(server)
        threading.Thread(target=loop, args=[server], daemon=True).start()
        return type("Running", (), {"address": f"127.0.0.1:{server.effective_port}"})

    stop = threading.Event()

    def loop(server):
        while not stop.is_set():
            wasyncore.loop(timeout=0.1, use_poll=True, map=server._map, count=1)

    yield serve
    stop.set()
    for server in running:
        server.task_dispatcher.shutdown()
        wasyncore.close_all(map=server._map)


@pytest.mark.parametrize("how", ["with its length", "chunked", "with Expect"])
def test_the_view_of_a_plugin_is_called_once_for_a_large_body(serve, endpoint, calls, admin, how):
    lines = ["Transfer-Encoding: chunked"] if how == "chunked" else [f"Content-Length: {LARGE}"]
    lines += ["Expect: 100-continue"] if how == "with Expect" else []
    body = bytes(LARGE)
    with Wire(serve(endpoint)) as wire:
        wire.send(head("POST", "/count", f"X-Auth-Token: {admin}", *lines))
        if how == "with Expect":
            assert wire.socket.recv(100).startswith(b"HTTP/1.1 100")
        reply = wire.send(chunked([body]) if how == "chunked" else body).reply()

    assert (200, [LARGE]) == (reply.status, calls)


@pytest.mark.parametrize("token", ["X-Auth-Token: 00000000-0000-4000-8000-000000000000", "Accept: */*"])
def test_the_view_is_not_called_for_a_refused_request(serve, endpoint, calls, token):
    with Wire(serve(endpoint)) as wire:
        reply = wire.send(head("POST", "/count", token, f"Content-Length: {LARGE}")).reply()

    assert (403, []) == (reply.status, calls)


def test_an_endpoint_decides_about_its_body_before_it_arrives(serve, endpoint, calls, admin):
    def before(request):
        raise RuleError(4000, "size", "too_much_for_this_plugin")

    with Wire(serve(replace(endpoint, before_body=before))) as wire:
        reply = wire.send(head("POST", "/count", f"X-Auth-Token: {admin}", f"Content-Length: {LARGE}")).reply()

    assert (400, 4000, []) == (reply.status, json.loads(reply.body)["error_code"], calls)


@pytest.mark.parametrize("length", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_the_limit_of_an_endpoint_holds_while_the_body_arrives(serve, endpoint, calls, admin, length):
    piece = bytes(1 << 20)
    with Wire(serve(replace(endpoint, before_body=lambda request: 1_500_000))) as wire:
        wire.send(head("POST", "/count", f"X-Auth-Token: {admin}", length))
        for _ in range(20):
            wire.send(chunked([piece], end=b"") if "chunked" in length else piece)
        reply = wire.reply()

    assert (400, "The body is larger than 1500000 bytes") == (reply.status, reply.json["status"])
    assert [] == calls


def test_another_endpoint_takes_1_mib(serve, endpoint, calls, admin):
    with Wire(serve(replace(endpoint, content=False))) as wire:
        reply = wire.send(head("POST", "/count", f"X-Auth-Token: {admin}", f"Content-Length: {LARGE}")).reply()

    assert (400, []) == (reply.status, calls)
