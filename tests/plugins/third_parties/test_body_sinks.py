"""What a plug-in can declare about the body, the methods and the headers of its endpoints, by the fixture's service."""

import http.client
import logging
import socket

import pytest

from frepo_core.plugins import EndpointError
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing.running_service import RunningService
from frepo_core.web import Answer
from support.contract.body_sinks import PATH, Sink, pieces_endpoint
from support.wire import eventually

ORIGIN = {"Origin": "https://console.example"}
VERSION = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
def serve(tmp_path, caplog):
    """Run a service with a plug-in that has these endpoints."""
    caplog.set_level(logging.INFO)
    running = []

    def serve(*endpoints, **more):
        plugin = FoundPlugin(
            name="acme",
            distribution="frepo-acme",
            version="1",
            storages=[],
            strategies=[],
            endpoints=lambda context: list(endpoints),
        )
        settings = {"cors.origins": ORIGIN["Origin"]} | more
        running.append(RunningService(tmp_path / "service", settings, caplog, (plugin,)))
        return running[-1]

    yield serve
    for service in running:
        service.close()


def other(method, view, **more):
    """Return an endpoint on the same path without a sink."""
    known = {"name": f"{method.lower()}_pieces", "method": method, "view": view, "body_sink": None, "answers": {}}
    return pieces_endpoint(None, **(known | more))


class TestBodies:
    @pytest.mark.parametrize("size", [0, 5, 3_000_000])
    def test_another_server_hands_the_whole_body_over(self, serve, size):
        sink = Sink()

        answer = serve(pieces_endpoint(sink.open)).request("PATCH", PATH, bytes(size))

        assert (200, {"size": size}, [True]) == (answer.status, answer.json, sink.ends)
        assert bytes(size) == sink.content

    def test_a_body_that_ends_early_is_not_complete(self, serve):
        sink = Sink()
        service = serve(pieces_endpoint(sink.open))
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), 20) as client:
            head = f"PATCH {PATH} HTTP/1.1\r\nHost: a\r\nX-Auth-Token: {service.admin}\r\nContent-Length: 1000\r\n\r\n"
            client.sendall(head.encode() + b"hello")
            assert b"hello" == eventually(b"hello", lambda: sink.content)
            client.shutdown(socket.SHUT_WR)
            assert b" 400 " in client.recv(100)

        assert [False] == sink.ends

    @pytest.mark.parametrize("fail", ["open", "write", "ended"])
    def test_an_error_of_the_sink_is_answered(self, serve, fail):
        sink = Sink(EndpointError(460, "The digest is another one", context={"offset": 3}), fail)

        answer = serve(pieces_endpoint(sink.open)).request("PATCH", PATH, b"hello")

        assert (460, 460, "The digest is another one", {"offset": 3}) == (
            answer.status,
            answer.json["code"],
            answer.json["detail"],
            answer.json["context"],
        )
        assert {"open": [], "write": [False], "ended": [True]}[fail] == sink.ends

    @pytest.mark.parametrize("answer", [None, object()])
    def test_what_is_no_sink_is_named(self, serve, answer):
        service = serve(pieces_endpoint(lambda request: answer))

        assert 500 == service.request("PATCH", PATH, b"hello").status
        assert f"answered body_sink() with {answer!r}, which is no frepo_core.web.BodySink" in service.log

    def test_the_limit_holds(self, serve):
        sink = Sink()
        service = serve(pieces_endpoint(sink.open, before_body=lambda request: 4))

        assert (413, False) == (service.request("PATCH", PATH, b"hello").status, sink.is_open.is_set())

    def test_the_context_of_the_plugin_is_handed_over(self, serve):
        contexts, sink = [], Sink()

        def open_sink(request, context):
            contexts.append(context.log.name)
            return sink

        assert 200 == serve(pieces_endpoint(open_sink)).request("PATCH", PATH, b"hello").status
        assert ["frepo_core.plugins.acme"] == contexts


class TestMethods:
    def test_one_path_has_many_methods(self, serve):
        def head(request):
            return Answer(headers={"Upload-Offset": "7"})

        service = serve(
            pieces_endpoint(Sink().open),
            other("HEAD", head),
            other("DELETE", lambda request: Answer(status=204)),
            other("POST", lambda request: Answer(status=201, headers={"Location": request.link(f"{PATH}/1")})),
            other("OPTIONS", lambda request: Answer(status=204), permission=None),
        )

        answers = {name: service.request(name, PATH, b"") for name in ("HEAD", "DELETE", "POST", "PATCH", "OPTIONS")}
        assert {"HEAD": 200, "DELETE": 204, "POST": 201, "PATCH": 200, "OPTIONS": 204} == {
            name: answer.status for name, answer in answers.items()
        }
        assert "7" == answers["HEAD"].headers["upload-offset"]
        assert (f"{service.url}{PATH}/1", b"") == (answers["POST"].headers["location"], answers["POST"].body)
        assert "content-type" not in answers["DELETE"].headers

    def test_a_path_in_location_is_one_of_the_service(self, serve):
        answer = Answer(status=201, headers={"Location": f"{PATH}/1"})
        settings = {"app.domain": "files.example.org", "base_path": "/backup"}

        service = serve(other("POST", lambda request: answer), **settings)

        found = service.request("POST", PATH, b"").headers["location"]
        assert f"http://files.example.org/backup{PATH}/1" == found

    def test_a_declared_head_is_not_that_of_get(self, serve):
        service = serve(
            other("GET", lambda request: Answer(headers={"X-Of": "get"})),
            other("HEAD", lambda request: Answer(headers={"X-Of": "head"})),
        )

        assert ["get", "head"] == [service.request(name, PATH).headers["x-of"] for name in ("GET", "HEAD")]

    @pytest.mark.parametrize("method", ["PATCH", "patch"])
    def test_a_method_can_be_overridden(self, serve, method):
        sink = Sink()
        service = serve(pieces_endpoint(sink.open, method_override=True))

        answer = service.request("POST", PATH, b"hello", headers={"X-HTTP-Method-Override": method})

        assert (200, b"hello") == (answer.status, sink.content)

    @pytest.mark.parametrize(("declared", "method"), [(False, "PATCH"), (True, "DELETE"), (True, "PUT")])
    def test_another_method_cannot(self, serve, declared, method):
        called = []
        service = serve(
            pieces_endpoint(Sink().open, method_override=declared),
            other("DELETE", called.append),
        )

        assert 405 == service.request("POST", PATH, headers={"X-HTTP-Method-Override": method}).status
        assert [] == called


class TestHeaders:
    def test_options_are_answered_with_the_headers_of_the_path(self, serve):
        service = serve(
            pieces_endpoint(Sink().open, options_headers=VERSION, headers=("Upload-Offset", "If-Match")),
            other("POST", None, options_headers={"Tus-Extension": "creation"}, answer_headers=("Location", "Tus-Max")),
        )

        answer = service.request("OPTIONS", PATH, token="", headers=ORIGIN)

        assert (204, "PATCH, POST, OPTIONS") == (answer.status, answer.headers["allow"])
        assert ("1.0.0", "creation") == (answer.headers["tus-resumable"], answer.headers["tus-extension"])
        assert answer.headers["access-control-allow-headers"].endswith("Content-Digest, Upload-Offset")
        assert answer.headers["access-control-expose-headers"].endswith("Accept-Ranges, Tus-Max")

    def test_a_path_without_declarations_allows_and_exposes_no_more(self, serve):
        service = serve(pieces_endpoint(Sink().open, headers=("Upload-Offset",), answer_headers=("Tus-Max",)))

        answer = service.request("OPTIONS", "/api/v1/collections", token="", headers=ORIGIN)

        assert "Upload-Offset" not in answer.headers["access-control-allow-headers"]
        assert "Tus-Max" not in answer.headers["access-control-expose-headers"]

    def test_errors_have_the_headers_of_the_path(self, serve):
        def view(request):
            raise EndpointError(423, "It is locked", headers={"Retry-After": "7", "X-Own": "own"})

        service = serve(
            pieces_endpoint(Sink().open, error_headers=VERSION | {"X-Own": "common"}, before_body=lambda request: 4),
            other("POST", view),
            other("DELETE", lambda request: Answer(status=204)),
        )
        answers = {
            "no token": service.request("PATCH", PATH, token=""),
            "no method": service.request("GET", PATH),
            "too large": service.request("PATCH", PATH, b"hello"),
            "its own": service.request("POST", PATH),
        }

        assert [401, 405, 413, 423] == [answer.status for answer in answers.values()]
        assert ["1.0.0"] * 4 == [answer.headers["tus-resumable"] for answer in answers.values()]
        assert ["common", "own"] == [answers[name].headers["x-own"] for name in ("no token", "its own")]
        assert "7" == answers["its own"].headers["retry-after"]
        assert "tus-resumable" not in service.request("DELETE", PATH).headers

    def test_an_error_of_another_origin_has_both_kinds(self, serve):
        service = serve(pieces_endpoint(Sink().open, error_headers=VERSION, answer_headers=("Tus-Resumable",)))

        answer = service.request("PATCH", PATH, token="", headers=ORIGIN)

        assert (401, "1.0.0") == (answer.status, answer.headers["tus-resumable"])
        assert "Tus-Resumable" in answer.headers["access-control-expose-headers"]


class TestDocument:
    def test_the_document_has_all_of_it(self, serve):
        service = serve(
            pieces_endpoint(
                Sink().open,
                path="/api/v1/acme/{upload}",
                headers=("Upload-Offset",),
                answers={204: None, 409: None, 410: None, 423: None, 460: None},
            )
        )

        operation = service.request("GET", "/api/v1/openapi.json").json["paths"]["/api/v1/acme/{upload}"]["patch"]

        assert {"upload", "Upload-Offset"} == {one["name"] for one in operation["parameters"]}
        assert ["Plug-ins"] == operation["tags"]
        assert {"204", "409", "410", "423", "460"} <= operation["responses"].keys()
        assert "application/problem+json" in operation["responses"]["460"]["content"]
        assert "application/octet-stream" in operation["requestBody"]["content"]

    def test_the_first_document_has_it_too(self, serve):
        service = serve(
            pieces_endpoint(
                Sink().open, path="/acme/{upload}", headers=("Upload-Offset",), answers={201: None, 460: None}
            )
        )

        operation = service.request("GET", "/api/doc.json").json["paths"]["/acme/{upload}"]["patch"]

        assert {"201", "460"} <= operation["responses"].keys()
        assert {"upload", "Upload-Offset"} == {one["name"] for one in operation["parameters"]}


def test_a_temporary_refusal_is_no_fault_in_the_log(serve):
    def view(request):
        raise EndpointError(503, "Another host has it", headers={"Retry-After": "3"})

    service = serve(other("POST", view))
    answer = service.request("POST", PATH)

    assert (503, "3") == (answer.status, answer.headers["retry-after"])
    assert "refused: Another host has it" in service.log
    assert "Traceback" not in service.log


def test_a_client_that_sends_no_length_sends_no_body(serve):
    sink = Sink()
    service = serve(pieces_endpoint(sink.open))
    connection = http.client.HTTPConnection(service.url.removeprefix("http://"), timeout=20)
    connection.putrequest("PATCH", PATH)
    connection.putheader("X-Auth-Token", service.admin)
    connection.endheaders()

    assert (200, [True]) == (connection.getresponse().status, sink.ends)
    connection.close()
