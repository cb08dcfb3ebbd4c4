"""Invalid input gets a clear answer and uses few resources."""

import contextlib
import json

import pytest

from support.wire import Wire, eventually, head, peak_memory, reset_peak_memory, traces

NAMES = {
    "a slash": "a%2Fb",
    "a way up": "..",
    "a way up and down": "..%2F..%2Fetc%2Fpasswd",
    "NUL": "a%00.txt",
    "a line break": "a%0D%0AX-Injected:%20yes",
    "too long": "x" * 5_000,
    "nothing": "",
    "not UTF-8": "%FF%FE",
    "spaces around": "%20a%20",
    "a quote": "a%22b",
}


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


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ["query", "path"])
def test_a_name_that_is_not_allowed_is_refused(service, client, ask, before, name, where):
    target = f"/repository/file/{NAMES[name]}" if where == "path" else f"/repository/x/upload?fileName={NAMES[name]}"
    reply = ask("POST", target, client.auth, body=b"hello")

    assert_refused(reply, 400, 404)
    assert before == eventually(before, lambda: traces(service))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_impossible_stored_name_is_not_found(client, ask, method, name):
    reply = ask(method, f"/repository/file/{NAMES[name]}", client.auth)

    assert_refused(reply, 400, 404, 405)


@pytest.mark.parametrize(
    "target",
    [
        b"/repository/file/a?password=%FF",
        b"/\x00",
        b"/%00",
        b"//nowhere",
        b"/repository/file/a?" + b"x=" * 3000,
        b"/repository/collection/%FF/backup",
        b"/repository/collection/not-a-uuid/backup/v1",
    ],
)
def test_an_undecodable_path_or_query_is_refused(client, ask, target):
    reply = ask("GET", target, client.auth)

    assert_refused(reply, 400, 404)


@pytest.mark.own_server
@pytest.mark.parametrize("target", [b"/repository/file/\xff\xfe", b"/repository/file/a?password=\xff"])
def test_bytes_beyond_ascii_in_a_target_are_refused_by_the_server(client, ask, target):
    reply = ask("GET", target, client.auth)

    assert (400, "application/json") == (reply.status, reply.headers.get_content_type())


@pytest.mark.parametrize(
    "token", ["x", "%00", "%FF", "' OR 1=1 --", "x" * 5000, "00000000-0000-0000-0000-000000000000"]
)
@pytest.mark.parametrize("way", ["query", "X-Auth-Token", "token", "Authorization"])
def test_an_invalid_token_is_refused(ask, before, token, way):
    if way == "query":
        reply = ask("POST", f"/repository/file/a.txt?_token={token.replace(' ', '%20')}", body=b"hello")
    else:
        value = f"Bearer {token}" if way == "Authorization" else token
        reply = ask("POST", "/repository/file/a.txt", f"{way}: {value}", body=b"hello")

    # Bytes that are not UTF-8 are a broken query, anything else an invalid token.
    assert_refused(reply, 400 if (way, token) == ("query", "%FF") else 403)


@pytest.mark.parametrize("value", [b"\xff\xfe", b"\xc3\xa4", b"\x01"])
def test_a_header_beyond_ascii_causes_no_error(client, ask, value):
    reply = ask("GET", "/repository/file/nothing", b"X-File-Password: " + value, b"User-Agent: " + value)

    assert reply.status in {400, 404}


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b'"text"', "application/json"),
        (b"\xff\xfe", "application/json"),
        ('{"roles": ["ä"]}'.encode("latin-1"), "application/json; charset=latin-1"),
        ('{"roles": []}'.encode("utf-16"), "application/json; charset=utf-16"),
        (b'{"roles": []}', "application/json; charset=no-such-charset"),
        (b"{}", "text/plain"),
        (b'{"roles": "upload.all", "x": 1}', ""),
        (b"[" * 100_000, "application/json"),
        (b'{"a":' * 100_000, "application/json"),
        (b"9" * 10_000, "application/json"),
        (b'{"roles": [NaN]}', "application/json"),
        (b'{"roles": ["\\ud800"]}', "application/json"),
        (b'{"roles": ["\\u0000"]}', "application/json"),
        (b"", "application/json"),
    ],
    ids=range(17),
)
@pytest.mark.parametrize("target", ["/auth/token/generate", "/repository/collection"])
def test_invalid_json_is_refused(client, ask, before, body, content_type, target):
    reply = ask("POST", target, client.auth, f"Content-Type: {content_type}", body=body)

    assert_refused(reply, 400)


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


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n"]
)
def test_bytes_that_are_not_http_end_only_that_connection(service, client, garbage):
    with Wire(service) as wire:
        wire.send(garbage + b"\r\n\r\n")
        with contextlib.suppress(OSError):
            wire.half_close()
        wire.rest()

    assert 200 == client.request("GET", "/").status


@pytest.mark.parametrize(
    ("method", "status"), [("PUT", 405), ("PATCH", 405), ("OPTIONS", 405), ("TRACE", 405), ("NONSENSE", 405)]
)
def test_a_wrong_method_is_answered_in_json(client, ask, method, status):
    assert_refused(ask(method, "/repository/file/a.txt", client.auth), status)


def test_a_wrong_host_causes_no_server_error(client, ask):
    with Wire(client.service) as wire:
        reply = wire.send(b'GET / HTTP/1.1\r\nHost: a b"<>\r\nContent-Length: 0\r\n\r\n').reply("GET")

    assert reply.status in {200, 400}


def test_the_log_contains_no_token_and_no_error(service, client):
    """Runs last: every request of this file was a client's mistake and is logged as one."""
    log = service.log.read_text()

    assert service.admin not in log
    assert "web.routing.error_views: error " not in log


def test_json_answers_are_json(client):
    assert "message" in json.loads(client.request("GET", "/").body)
