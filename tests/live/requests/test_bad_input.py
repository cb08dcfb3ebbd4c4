"""Invalid input gets a clear answer and uses few resources."""

import contextlib

import pytest

from support.wire import Wire, eventually, head, peak_memory, reset_peak_memory, traces


@pytest.fixture
def ask(client):
    def ask(method, target, *fields, body=b""):
        with Wire(client.service) as wire:
            return wire.send(head(method, target, *fields, f"Content-Length: {len(body)}"), body).reply(method)

    return ask


def assert_refused(reply, *statuses):
    """Assert that the answer is an error in JSON with all its keys."""
    assert (reply.status in statuses, "application/json") == (True, reply.headers.get_content_type()), reply
    assert [reply.status] * 2 == [reply.json["http_code"], reply.json["exit_code"]]


def test_an_undecodable_path_or_query_is_refused(client, ask):
    for target in [
        b"/repository/file/a?password=%FF",
        b"/\x00",
        b"/%00",
        b"//nowhere",
        b"/repository/file/a?" + b"x=" * 3000,
        b"/repository/collection/%FF/backup",
        b"/repository/collection/not-a-uuid/backup/v1",
    ]:
        reply = ask("GET", target, client.auth)

        assert_refused(reply, 400, 404)


@pytest.mark.own_server
def test_bytes_beyond_ascii_in_a_target_are_refused_by_the_server(client, ask):
    for target in [b"/repository/file/\xff\xfe", b"/repository/file/a?password=\xff"]:
        reply = ask("GET", target, client.auth)

        assert (400, "application/json") == (reply.status, reply.headers.get_content_type()), target


def test_a_header_beyond_ascii_causes_no_error(client, ask):
    for value in [b"\xff\xfe", b"\xc3\xa4", b"\x01"]:
        reply = ask("GET", "/repository/file/nothing", b"X-File-Password: " + value, b"User-Agent: " + value)

        assert reply.status in {400, 404}, value


@pytest.mark.own_server
def test_a_huge_json_body_is_refused_in_little_memory(service, client, before):
    memory = reset_peak_memory(service)
    reply = client.request("POST", "/repository/collection", (b'{"a":"' + b"x" * (1 << 20) for _ in range(100)))

    assert_refused(reply, 400)
    assert (True, before) == (peak_memory(service) < memory + 50, eventually(before, lambda: traces(service)))


def test_a_huge_header_is_refused_by_the_server(service, client, before):
    with Wire(service) as wire:
        start = head("GET", "/")[:-2] + b"X-Large: "
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            wire.send(start, b"x" * (1 << 20), b"\r\n\r\n")
        answer = wire.rest()

    assert answer == b"" or answer.startswith((b"HTTP/1.1 431", b"HTTP/1.0 431")), answer[:200]
    assert (200, before) == (client.request("GET", "/").status, eventually(before, lambda: traces(service)))


def test_bytes_that_are_not_http_end_only_that_connection(service, client):
    for garbage in [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n"]:
        with Wire(service) as wire:
            wire.send(garbage + b"\r\n\r\n")
            with contextlib.suppress(OSError):
                wire.half_close()
            wire.rest()

        assert 200 == client.request("GET", "/").status, garbage


def test_a_wrong_host_causes_no_server_error(client, ask):
    with Wire(client.service) as wire:
        reply = wire.send(b'GET / HTTP/1.1\r\nHost: a b"<>\r\nContent-Length: 0\r\n\r\n').reply("GET")

    assert reply.status in {200, 400}


def test_the_log_contains_no_token_and_no_error(service, client):
    """Runs last: every request of this file was a client's mistake and is logged as one."""
    log = service.log.read_text()

    assert service.admin not in log
    assert "web.routing.error_views: error " not in log
