import contextlib
import json
import socket
from pathlib import Path

import pytest

pytestmark = pytest.mark.own_server

MIB = 1 << 20


def converse(service, sent: bytes) -> tuple[str, dict[str, str], bytes]:
    """Send raw bytes; return the status line, the headers in lower case, and the body."""
    host, port = service.address.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(sent)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    return status, {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body


def peak_memory(service) -> int:
    """The most that the process ever held in memory, in bytes."""
    status = Path(f"/proc/{service.pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
REFUSED_BY_THE_SERVER = {
    "a header of 1 MB": (b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * MIB + b"\r\n\r\n", 431),
    "a path of 1 MB": (b"GET /" + b"a" * MIB + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
    "not HTTP": (b"\x17\x03\x01 hello\r\n\r\n", 400),
    "a header without a colon": (b"GET / HTTP/1.1\r\nHost a\r\n\r\n", 400),
    "a length that is no number": (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ten\r\n\r\n", 400),
    "a broken chunk": (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", 400),
    "a long line before a chunk": (CHUNKED + b"1;a=" + b"a" * 5_000, 400),
    "a long trailer": (CHUNKED + b"0\r\nX-Long: " + b"a" * (64 << 10), 400),
    "more than can be": (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", 413),
    "an unknown coding": (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: rot13\r\n\r\n", 501),
}


def test_requests_that_waitress_refuses_are_answered_in_json(service):
    for case, (sent, expected) in REFUSED_BY_THE_SERVER.items():
        status, headers, body = converse(service, sent)

        error = json.loads(body)
        assert int(status.split()[1]) == expected
        assert headers["content-type"] == "application/json"
        assert (error["error_code"], error["http_code"], error["exit_code"]) == (expected, expected, expected)
        assert error["status"], case


OF_V1 = {
    "a header of 1 MB": (b"GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * MIB + b"\r\n\r\n", 431),
    "a header of 9 KB": (b"GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * 9000 + b"\r\n\r\n", 431),
    "a path of 1 MB": (b"GET /api/v1/files/" + b"a" * MIB + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
    "a query of 9 KB": (b"GET /api/v1?q=" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 431),
    "a whole URL": (b"GET http://a:80/%61pi/v1/jobs HTTP/1.1\r\nHost a\r\n\r\n", 400),
    "another version": (b"GET /api/v1 HTTP/3\r\nHost: a\r\n\r\n", 400),
    "two hosts": (b"GET /api/v1/jobs HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    "a broken chunk": (CHUNKED.replace(b"/", b"/api/v1/files", 1) + b"xyz\r\n\r\n", 400),
    "more than can be": (b"PUT /api/v1/files HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", 413),
    "an unknown coding": (b"PUT /api/v1/files HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: rot13\r\n\r\n", 501),
}


def test_below_api_v1_they_are_problems(service):
    for case, (sent, expected) in OF_V1.items():
        status, headers, body = converse(service, sent)

        error = json.loads(body)
        assert (expected, "application/problem+json") == (int(status.split()[1]), headers["content-type"])
        assert (expected, expected, f"/api/v1/doc#error-{expected}") == (error["status"], error["code"], error["type"])
        assert error["title"] and error["detail"], case


def test_other_paths_keep_the_shape_of_the_first_api(service):
    for path in [b"/api/v10", b"/x?/api/v1", b"*", b" /api/v1"]:
        _, headers, body = converse(service, b"GET " + path + b" HTTP/1.1\r\nHost a\r\n\r\n")

        assert ("application/json", 400) == (headers["content-type"], json.loads(body)["error_code"]), path


def test_endless_headers_are_refused(service):
    before = peak_memory(service)

    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        converse(service, b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"a" * 9 * MIB)

    assert service.answers()
    assert peak_memory(service) - before < 8 * MIB


def test_the_service_still_answers_after_refusals(service):
    for sent, _ in REFUSED_BY_THE_SERVER.values():
        converse(service, sent)

    assert service.answers()


def test_100_mb_of_json_are_refused_in_little_memory(service):
    body = b'{"roles": ["' + b"a" * 100 * MIB + b'"]}'
    head = (
        f"POST /auth/token/generate HTTP/1.1\r\nHost: a\r\nX-Auth-Token: {service.admin}\r\n"
        f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    before = peak_memory(service)

    status, headers, answer = converse(service, head.encode() + body)

    assert status == "HTTP/1.1 400 Bad Request"
    assert headers["content-type"] == "application/json"
    assert json.loads(answer)["error_code"] == 400
    assert peak_memory(service) - before < 24 * MIB


def test_a_header_of_1_mb_takes_little_memory(service):
    before = peak_memory(service)

    for _ in range(5):
        converse(service, REFUSED_BY_THE_SERVER["a header of 1 MB"][0])

    assert peak_memory(service) - before < 8 * MIB
