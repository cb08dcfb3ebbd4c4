"""Heads that are malformed, ambiguous or large are refused at once, and the process logs no error for any input."""

import contextlib
import random
import time

import pytest

from support.wire import Wire, cpu_seconds, head

pytestmark = pytest.mark.own_server
LIMIT = 0.5  # seconds of a processor; quadratic parsing took from 2 s to minutes


def get(*lines: bytes) -> bytes:
    return b"\r\n".join([b"GET / HTTP/1.1", b"Host: test", *lines, b"", b""])


SUPERLINEAR = {
    "blanks before a control character": (get(b"A:" + b" " * 7900 + b"\x01"), 400),
    "blanks and tabs": (get(b"A:" + b" \t" * 3900 + b"\x7f"), 400),
    "words and blanks": (get(b"A:" + b"a " * 3900 + b"\x00"), 400),
    "blanks in every line": (get(*[b"A:" + b" " * 7900 + b"\x01"] * 4), 400),
    "digits in the request line": (b"GET a://" + b"1" * 7900 + b"  HTTP/1.1\r\nHost: test\r\n\r\n", 400),
    "a name without an end": (get(b"a" * 8000), 400),
    "blanks before a control character, 250 kB": (get(b"A:" + b" " * 250_000 + b"\x01"), 431),
    "a long request line": (b"GET /" + b"1" * 9000 + b" HTTP/1.1\r\nHost: test\r\n\r\n", 431),
    "a long line": (get(b"A: " + b"a" * 9000), 431),
    "many lines": (get(*[b"A: " + b"a" * 1000] * 33), 431),
}


@pytest.mark.parametrize(("sent", "status"), SUPERLINEAR.values(), ids=SUPERLINEAR.keys())
def test_a_head_is_refused_in_little_time(service, sent, status):
    with Wire(service) as wire:
        before = cpu_seconds(service)
        reply = wire.send(sent).reply("GET")
        took = cpu_seconds(service) - before

    assert (status, status) == (reply.status, reply.json["error_code"])
    assert took < LIMIT


@pytest.mark.parametrize("sent", [b"\r\n" * 500_000, b"\r\n\r\n" * 250_000, b"\n" * 1_000_000], ids=range(3))
def test_empty_lines_before_a_request_cost_little(service, client, sent):
    with Wire(service) as wire, Wire(service) as other:
        before = cpu_seconds(service)
        wire.send(sent)
        other.send(head("GET", "/")).reply("GET")
        took = cpu_seconds(service) - before

    assert took < LIMIT


MALFORMED = {
    "an IPv6 address without an end": b"GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n",
    "an invalid IPv6 address": b"GET http://[x]/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "5,000 digits": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "20 digits": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"0" * 19 + b"1\r\n\r\nx",
    "a negative length": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "an empty length": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
    "a list of lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\nx",
    "a control character in the path": b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
    "a tab in the request line": b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    "no version": b"GET /\r\nHost: a\r\n\r\n",
    "another version": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "a lower-case method": b"get / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a blank before the colon": b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    "a folded line": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
    "a name that is no token": b"GET / HTTP/1.1\r\nHost: a\r\nX(: a\r\n\r\n",
    "a bare line feed": b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
    "a bare carriage return": b"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
}
AMBIGUOUS = {
    "length and chunks": [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    "chunks and length": [b"Transfer-Encoding: chunked", b"Content-Length: 0"],
    "length and an unknown coding": [b"Content-Length: 5", b"Transfer-Encoding: identity"],
    "two lengths": [b"Content-Length: 5", b"content-length: 5"],
    "two different lengths": [b"Content-Length: 5", b"Content-Length: 6"],
    "two codings": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
    "chunks in chunks": [b"Transfer-Encoding: chunked, chunked"],
    "no coding": [b"Transfer-Encoding:"],
    "two hosts": [b"Host: other"],
}


def test_a_malformed_head_is_refused(service):
    for case, sent in MALFORMED.items():
        with Wire(service) as wire:
            reply = wire.send(sent).reply("GET")

        assert (400, 400) == (reply.status, reply.json["error_code"]), case


def test_a_body_whose_end_is_ambiguous_is_refused_and_the_connection_closed(service, client):
    """RFC 9112, 6.3: what follows could be a request that a proxy never saw."""
    for case, fields in AMBIGUOUS.items():
        top = b"\r\n".join([b"POST / HTTP/1.1", b"Host: test", *fields, b"", b""])
        with Wire(service) as wire:
            answer = wire.send(top + b"0\r\n\r\n" + get()).rest()

        assert (b" 400 ", 1) == (answer[8:13], answer.count(b"error_code")), case


def test_chunks_are_refused_of_http_1_0(service):
    with Wire(service) as wire:
        sent = b"POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        answer = wire.send(sent).rest()

    assert (b" 400 ", 1) == (answer[8:13], answer.count(b"error_code"))


def test_a_head_that_is_unusual_but_valid_is_accepted(service):
    for sent in [
        get(b"A:" + b" " * 5000),
        get(b"A:  \t b \t "),
        get(b"A: \xff\xfe"),
        get(b"A: " + b"a" * 8000),
        get(*[b"A: " + b"a" * 1000] * 30),
        b"\r\n\r\n" + get(),
        b"GET http://test/ HTTP/1.1\r\nHost: test\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
    ]:
        for pieces in [1, 3]:
            with Wire(service) as wire:
                for start in range(pieces):
                    wire.send(sent[start * len(sent) // pieces : (start + 1) * len(sent) // pieces])
                    time.sleep(0.02)
                reply = wire.reply("GET")

            assert 200 == reply.status, (sent, pieces)


@pytest.mark.parametrize("target", ["/repository/file/żółw.txt?tags=a", "/repository/file/upload?fileName=żółw.txt"])
def test_a_name_may_be_sent_without_percent_encoding(service, client, target):
    """curl sends a URL as it was typed; in UTF-8 it is the same as its percent-encoding."""
    with Wire(service) as wire:
        sent = head("POST", target.encode(), client.auth, "Content-Length: 4")
        reply = wire.send(sent + b"name").reply()

    assert (200, "żółw.txt") == (reply.status, reply.json["requested_filename"])
    assert 200 == client.request("DELETE", f"/repository/file/{reply.json['filename']}").status


def test_a_path_that_is_not_utf_8_is_refused(service):
    with Wire(service) as wire:
        reply = wire.send(b"GET /repository/file/\xff HTTP/1.1\r\nHost: test\r\n\r\n").reply("GET")

    assert (400, "The path is not UTF-8") == (reply.status, reply.json["status"])


def test_a_refused_head_that_came_byte_by_byte_is_answered(service):
    with Wire(service) as wire:
        wire.send(get(b"A: " + b"a" * 9000)[:-1])
        time.sleep(0.1)
        reply = wire.send(b"\n").reply("GET")

    assert 431 == reply.status


SEEDS = [
    get(b"A: b", b"Connection: close"),
    head("POST", "/repository/file/upload?fileName=a.txt", "Content-Length: 5") + b"hello",
    head("POST", "/auth/token/generate", "Transfer-Encoding: chunked", "Expect: 100-continue")
    + b"2\r\n{}\r\n0\r\n\r\n",
    head("GET", "http://[::1]:80/repository/file/a?x=%FF#f", "Range: bytes=0-1,3-4", "If-Range: x"),
    head("DELETE", "/repository/collection/x/backup/v1", "X-Forwarded-For: 1.2.3.4", "Authorization: Bearer x"),
]
WORDS = [b"\r\n", b"\r", b"\n", b" ", b"\t", b":", b"\x00", b"\xff", b"[", b"]", b"//", b"%", b"?", b"#", b";", b",",
         b"9" * 30, b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"HTTP/1.1", b"HTTP/1.0", b"http://",
         b"%zz", b"\xc3\xa4", b"Host: \r\n", b"Connection: keep-alive\r\n", b"Expect: 100-continue\r\n", b"-1", b'"',
         b"\\", b"ffffffffffffffffffff"]  # fmt: skip


def mutated(rng: random.Random) -> bytes:
    sent = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 6)):
        start = rng.randint(0, len(sent))
        word = rng.choice(WORDS) if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 20))
        sent = sent[:start] + word + sent[start + rng.choice([0, 0, len(word), rng.randint(0, 40)]) :]
    return sent


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory, make_service):
    service = make_service(tmp_path_factory.mktemp("fuzzed"))
    service.start()
    yield service
    service.stop()


def test_no_input_makes_an_error_line(fuzzed):
    rng = random.Random(20)
    for _ in range(2000):
        with Wire(fuzzed) as wire, contextlib.suppress(ConnectionError):
            wire.send(mutated(rng))
            if rng.random() < 0.5:  # half of them leave before the answer
                wire.half_close()
                wire.socket.settimeout(0.05)
                with contextlib.suppress(TimeoutError):
                    wire.rest()
    assert fuzzed.answers()

    lines = [line for line in fuzzed.log.read_text().splitlines() if " ERROR " in line or "Traceback" in line]
    assert [] == lines
