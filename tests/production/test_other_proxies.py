"""Caddy, Apache and HAProxy, as in deploy/proxies, in front of a service: what docs/operations.md says of nginx."""

import contextlib
import os
import socket
from types import SimpleNamespace

import pytest
import yaml

from support.proxies import other_proxies
from support.wire import Wire, head

from .conftest import Site

CONTENT = os.urandom(300_000)
# The keys of Traefik's documentation, "Routing & Load Balancing" and "Install Configuration", that our files may use.
TRAEFIK = {
    "traefik.yml": {
        *("entryPoints.web.address", "entryPoints.web.forwardedHeaders.insecure", "providers.file.filename"),
        *(f"entryPoints.web.transport.respondingTimeouts.{name}Timeout" for name in ("read", "write", "idle")),
    },
    "frepo.yml": {
        *(f"http.routers.frepo.{name}" for name in ("rule", "entryPoints", "service", "middlewares")),
        "http.middlewares.frepo-headers.headers.customRequestHeaders.X-Forwarded-Prefix",
        *(f"http.services.frepo.loadBalancer.{name}" for name in ("passHostHeader", "serversTransport", "servers")),
        "http.serversTransports.frepo.forwardingTimeouts.dialTimeout",
        "http.serversTransports.frepo.forwardingTimeouts.responseHeaderTimeout",
        "http.serversTransports.frepo.forwardingTimeouts.idleConnTimeout",
    },
}


@pytest.fixture(scope="module")
def trusting_service(make_service, tmp_path_factory):
    service = make_service(tmp_path_factory.mktemp("trusting"), environment={"TRUSTED_PROXIES": "127.0.0.1"})
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module", params=other_proxies.PROGRAMS)
def proxy(request):
    if other_proxies.missing(request.param):
        pytest.skip(f"{request.param} is not installed: make services")
    return request.param


@pytest.fixture(scope="module")
def proxied(proxy, trusting_service):
    with other_proxies.running_proxy(proxy, trusting_service.address) as port:
        url = f"http://127.0.0.1:{port}"
        yield Site(url=url, services=[trusting_service], environment={}, admin=trusting_service.admin)


def test_the_address_host_and_scheme_are_those_that_the_proxy_sees(proxied):
    body = {"roles": ["upload.all"], "data": {"allowedIpAddresses": ["127.0.0.9"]}}
    token = f"X-Auth-Token: {proxied.api('/auth/token/generate', body)['tokenId']}"
    forged = ["-H", "X-Forwarded-For: 127.0.0.9", "-H", "X-Forwarded-Host: evil.example.org"]
    forged += ["-H", "X-Forwarded-Proto: gopher", "-H", "X-Forwarded-Prefix: /evil"]

    statuses = [
        proxied.curl("/version", "-H", token, *more).status
        for more in (["--interface", "127.0.0.9"], ["--interface", "127.0.0.8"], forged)
    ]
    made = proxied.push("/repository/file/upload?fileName=a", b"forged", *forged, "-H", "Host: files.example.org")

    assert [200, 403, 403] == statuses
    assert made.json["url"].startswith("http://files.example.org/repository/")


def test_uploads_ranges_and_conditions_work_as_without_the_proxy(proxied):
    link = proxied.upload("dump.bin", CONTENT)["url"]
    whole = proxied.curl(link)

    part = proxied.curl(link, "-r", "100-", "-H", f"If-Range: {whole.headers['etag']}")
    same = proxied.curl(link, "-H", f"If-None-Match: {whole.headers['etag']}")

    assert (200, CONTENT, str(len(CONTENT))) == (whole.status, whole.body, whole.headers["content-length"])
    assert (206, CONTENT[100:], 304) == (part.status, part.body, same.status)
    assert "repr-digest" in whole.headers


@pytest.mark.parametrize("framing", ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
def test_a_body_is_forwarded_while_it_arrives(proxy, framing):
    part = b"~" * 100_000 if "Length" in framing else b"186a0\r\n" + b"~" * 100_000 + b"\r\n"
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        service.settimeout(10)
        port = stack.enter_context(other_proxies.running_proxy(proxy, f"127.0.0.1:{service.getsockname()[1]}"))
        client = stack.enter_context(socket.create_connection(("127.0.0.1", port), 10))

        client.sendall(f"POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n".encode() + part)
        connection = stack.enter_context(service.accept()[0])
        connection.settimeout(10)
        received = 0
        while received < 100_000:
            received += connection.recv(1 << 20).count(b"~")

    assert received == 100_000


@pytest.mark.own_server  # stock waitress asks for the body before it calls frepo
def test_an_upload_that_is_refused_is_not_sent(proxied):
    fields = ("Content-Length: 1000000000", "Expect: 100-continue", "X-Auth-Token: wrong")
    with Wire(SimpleNamespace(address=proxied.url.removeprefix("http://"))) as wire:
        wire.send(head("POST", "/repository/file/upload?fileName=a", *fields))
        answer = wire.socket.recv(1 << 16)

    assert answer.startswith(b"HTTP/1.1 403 ")


def _keys(value, path=""):
    if isinstance(value, dict) and value:
        return {key for name, one in value.items() for key in _keys(one, f"{path}.{name}" if path else name)}
    return {path}


@pytest.mark.parametrize("name", TRAEFIK)
def test_the_files_for_traefik_have_documented_keys_only(name):
    text = (other_proxies.SHIPPED / "traefik" / name).read_text()

    assert TRAEFIK[name] == _keys(yaml.safe_load(text))
