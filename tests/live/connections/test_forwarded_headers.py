"""Forwarded headers of a trusted proxy are used in links only if scheme and host are valid."""

import pytest

from support.wire import Client, Wire, head


@pytest.fixture(scope="module")
def proxied(tmp_path_factory, make_service):
    """A service that trusts the test's address as its proxy."""
    service = make_service(tmp_path_factory.mktemp("proxied"), environment={"TRUSTED_PROXIES": "127.0.0.1"})
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def version(proxied):
    """The path of a version, which is answered with a redirect."""
    client = Client(proxied)
    collection = client.collection()
    client.push(collection, b"content")
    return f"/repository/collection/{collection}/backup/latest"


@pytest.fixture
def redirect(proxied, version):
    def redirect(*fields):
        with Wire(proxied) as wire:
            return wire.send(head("GET", version, f"X-Auth-Token: {proxied.admin}", *fields)).reply("GET")

    return redirect


def test_a_forwarded_scheme_or_host_that_is_not_valid_is_refused(redirect):
    for field in [
        "X-Forwarded-Proto: javascript",
        "X-Forwarded-Proto: javascript:alert(1)//",
        "X-Forwarded-Proto: ftp, https",
        "X-Forwarded-Host: a b",
        "X-Forwarded-Host: evil.example/path",
        "X-Forwarded-Host: user@evil.example",
        "X-Forwarded-Host: evil.example#",
        "X-Forwarded-Host: evil.example:99999x",
        "X-Forwarded-Host: \xe4.example",
    ]:
        answer = redirect(field.encode("latin-1"))

        assert (400, None) == (answer.status, answer.headers["Location"])
        assert field.partition(":")[0] in answer.json["status"], field


def test_links_use_the_forwarded_scheme_and_host(redirect):
    for fields, start in [
        (("X-Forwarded-Proto: https", "X-Forwarded-Host: files.example:8443"), "https://files.example:8443/"),
        (("X-Forwarded-Proto: HTTPS, http", "X-Forwarded-Host: files.example, inner"), "https://files.example/"),
        (("X-Forwarded-Proto:", "X-Forwarded-Host:"), "http://test/"),
        (("X-Forwarded-Host: [2001:db8::1]:80",), "http://[2001:db8::1]:80/"),
    ]:
        answer = redirect(*fields)

        assert (302, True) == (answer.status, answer.headers["Location"].startswith(start)), fields


def test_headers_forwarded_by_an_untrusted_peer_are_ignored(service):
    for field in ["X-Forwarded-Proto: javascript", "X-Forwarded-Host: a b"]:
        with Wire(service) as wire:
            answer = wire.send(head("GET", "/", field)).reply("GET")

        assert 200 == answer.status, field
