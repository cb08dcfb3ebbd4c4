"""add-by-url with servers that refuse, disconnect or do not speak HTTP: reported, nothing stored or left running."""

import gc
import time

import pytest

from support.remote_answers import FAILED, REMOTE_STATUS, threads_and_descriptors
from support.servers.remote import CHUNKED, redirect, reply
from support.wire import eventually


def test_an_error_of_the_remote_server_is_reported_without_its_body(add, remote, kept):
    for status in ["400 Bad Request", "401 Unauthorized", "404 Not Found", "500 Error", "599 Odd"]:
        server = remote({"/x": reply(status, b"the remote's own words")})

        answer = add(f"{server.origin}/x", status=400)

        assert (answer.json["error_code"], kept()) == (REMOTE_STATUS, 0), status
        assert "own words" not in answer.text, status


def test_retry_after_of_the_remote_server_is_ignored(add, remote):
    for status in ["429 Too Many Requests", "503 Unavailable", "413 Too Large"]:
        server = remote({"/x": reply(status, b"", "Retry-After: 600")})
        begin = time.monotonic()

        assert add(f"{server.origin}/x", status=400).json["error_code"] == REMOTE_STATUS, status
        assert time.monotonic() - begin < 60, status


def _hang_up(connection):
    connection.close()


def test_a_broken_answer_is_refused(add, remote, kept):
    for answer in [
        _hang_up,
        b"this is no HTTP\r\n\r\n",
        reply("200 OK", b"short", "Content-Length: 10"),
        reply("200 OK", b"5\r\nshort\r\n", CHUNKED),
        reply("200 OK", b"5\r\nshort\r\nzz\r\n", CHUNKED),
        reply("200 OK", b"5\r\nshort\r\n0\r\n\r\n", "Transfer-Encoding: gzip, chunked"),
        reply("200 OK", b"short", "Content-Length: 5, 7"),
        reply("206 Partial Content", b"short", "Content-Length: 5"),
        reply("304 Not Modified"),
        reply("300 Multiple Choices", b"short", "Content-Length: 5"),
        reply("302 Found", b"short", "Content-Length: 5"),
        reply("200 OK", b"short", "X-Long: " + "x" * 100_000),
        reply("200 OK", b"short", *(f"X-{n}: x" for n in range(200))),
        reply("200 OK", b"5\r\nshort\r\n0\r\n\r\n", "no colon", CHUNKED),
        reply("200 OK", b"short", "no colon", "Content-Length: 10"),
        reply("200 OK", b"short", "X: a\rb", "Content-Length: 10"),
        reply("200 OK", b"short", "Content-Length : 10"),
        reply("200 OK", b"short", "Content-Length: ten"),
        reply("200 OK", b"short", "Content-Length: -10"),
        reply("200 OK", b"short", "Content-Length: +10"),
        reply("200 OK", b"short", "Content-Length: 1_0"),
        reply("200 OK", b"short", f"Content-Length: {'0' * 5000}10"),
        reply("103 Early Hints") + reply("200 OK", b"short", "Content-Length: 5"),
    ]:
        server = remote({"/x": answer})

        refusal = add(f"{server.origin}/x", status=400)

        assert (refusal.json["error_code"], kept()) == (FAILED, 0), answer
        assert "short" not in refusal.text, answer


def test_an_unusual_but_valid_answer_is_accepted(app, add, remote):
    for headers in [
        ["Content-Length: 7, 7"],
        ["Content-Length: 7 "],
        ['Content-Disposition: attachment; filename="größe.txt"'],
        ["X:"],
        ["Content-Type: multipart/mixed", "Content-Length: 7"],
        ["Content-Type: multipart/mixed; boundary=x", "Content-Transfer-Encoding: base64", "Content-Length: 7"],
    ]:
        server = remote({"/x": reply("200 OK", b"content", *headers)})

        name = add(f"{server.origin}/x", status="20*").json["filename"]

        assert app.get(f"/repository/file/{name}").body == b"content", headers


@pytest.mark.costly
def test_no_thread_and_no_socket_is_left_behind(add, remote):
    server = remote(
        {
            "/redirect": redirect("/x"),
            "/missing": reply("404 Not Found", b"x" * 100_000),
            "/short": reply("200 OK", b"short", "Content-Length: 10"),
            "/private": redirect("http://127.0.0.1:1/"),
        }
    )
    add(f"{server.origin}/x")
    server.wait_until_idle()
    gc.collect()  # what earlier tests have left, so that it is not closed meanwhile
    before = threads_and_descriptors()

    for path, status in [("redirect", 202), *((path, 400) for path in ("missing", "short", "private"))]:
        add(f"{server.origin}/{path}", status=status)

    server.wait_until_idle()
    assert before == eventually(before, threads_and_descriptors)
