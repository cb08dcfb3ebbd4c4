"""Requests that plug-ins send: the rules of add-by-url hold, and nothing of a URL is logged."""

import logging
from ipaddress import ip_network

import pytest

from frepo_core.errors import RemoteError
from support.servers.remote import ok, redirect, reply, say_nothing, serving

# 127.0.0.2 represents a public address, 127.0.0.1 one that must not be reached.
ALLOWED = (ip_network("127.0.0.2/32"),)


@pytest.fixture
def service(services):
    return next(iter(services.contexts.values())).service


@pytest.fixture
def send(service):
    def send(method, url, **more):
        return service.send_request(method, url, **{"allowed_networks": ALLOWED, "setting": "acme.networks"} | more)

    return send


def test_a_request_has_its_method_headers_and_body(send):
    with serving({"/hook": reply("202 Accepted", b"", "Content-Length: 0", "Retry-After: 7")}) as remote:
        answer = send("POST", f"{remote.origin}/hook?a=b", body=b"{}", headers={"X-One": "1"})

    (head,) = remote.requests
    assert (202, "7") == (answer.status, answer.headers["retry-after"])
    assert head.startswith("POST /hook?a=b HTTP/1.1\r\n")
    assert "X-One: 1\r\n" in head
    assert head.endswith("\r\n\r\n{}")


def test_an_address_that_is_not_public_is_refused_and_the_setting_named(send):
    with serving({}, address="127.0.0.1") as remote, pytest.raises(RemoteError) as caught:
        send("POST", f"{remote.origin}/hook", body=b"")

    assert [] == remote.requests
    assert "an address that is not public. The operator can allow it with acme.networks." in caught.value.reason


def test_an_address_is_checked_without_a_request(service):
    for url, reason in [
        ("https://127.0.0.1/5ecret", "The operator can allow it with acme.networks."),
        ("https://[::1]:8443/5ecret", "an address that is not public"),
        (f"http://{'5ecret' * 11}.example/", "cannot be resolved"),  # too long for the DNS, so that nobody is asked
        ("ftp://127.0.0.2/5ecret", "not http or https"),
        ("http://127.0.0.2:99999/5ecret", "not valid"),
        ("http:///5ecret", "not valid"),
    ]:
        with serving({}) as remote:
            service.check_address(f"{remote.origin}/hook", allowed_networks=ALLOWED)
        with pytest.raises(RemoteError) as caught:
            service.check_address(url, allowed_networks=ALLOWED, setting="acme.networks")

        assert [] == remote.requests
        assert reason in caught.value.reason
        assert "5ecret" not in caught.value.reason + caught.value.message, url


def test_a_redirect_of_a_post_is_not_followed(send):
    with serving({"/hook": redirect("/other")}) as remote:
        answer = send("POST", f"{remote.origin}/hook", body=b"5ecret")

    assert 302 == answer.status
    assert 1 == len(remote.requests)


def test_a_redirect_of_a_get_is_followed(send):
    with serving({"/ping": redirect("/pong"), "/pong": ok(b"")}) as remote:
        answer = send("GET", f"{remote.origin}/ping")

    assert 200 == answer.status
    assert ["/ping", "/pong"] == [head.split()[1] for head in remote.requests]


def test_a_redirect_to_an_address_that_is_not_public_is_refused(send):
    with serving({}, address="127.0.0.1") as inner, serving({"/ping": redirect(f"{inner.origin}/admin")}) as remote:
        with pytest.raises(RemoteError) as caught:
            send("GET", f"{remote.origin}/ping")

        assert [] == inner.requests
    assert "not public" in caught.value.reason


def test_the_timeout_limits_the_whole_request(send):
    with serving({"/": say_nothing}) as remote, pytest.raises(RemoteError, match="too long|broke"):
        send("GET", f"{remote.origin}/", timeout=0.2)


def test_a_failure_does_not_name_the_url(send, caplog):
    for url in ["file:///etc/passwd", "ftp://127.0.0.2/5ecret", "http://[5ecret/", "http://127.0.0.2:1/5ecret"]:
        with caplog.at_level(logging.DEBUG), pytest.raises(RemoteError) as caught:
            send("GET", url)

        assert "5ecret" not in caught.value.message + caught.value.reason + caplog.text, url


def test_a_url_is_not_logged(send, caplog):
    with caplog.at_level(logging.DEBUG), serving({}) as remote:
        send("GET", f"{remote.origin}/path5ecret")

    assert "5ecret" not in caplog.text
