"""What a byte of a request can cost is bounded: a table of all that clients send, with what is unusual about it.

The bytes on the wire are in `unit/server/test_work.py`, coded bodies in `unit/services/content/decoding/test_work.py`,
and contents that are checked in `plugins/integrity/test_work.py`.
"""

import base64
import functools
import json

import pytest

from support.work import count_work

pytestmark = pytest.mark.costly
KIB = 1 << 10
# For each byte.
MOST_CALLS, MOST_SCANNED = 12, 60
BOUNDARY = b"--" + b"b" * 60


def repeated(piece):
    """Return a function that repeats a text up to a size."""
    return lambda size: piece * (size // len(piece))


HEADER_PIECES = {
    "Accept": [",", "a/b,", "a/b;q=0.1,", "a/b;a=b;", 'a/b;a="', "a/b ;", "a"],
    "Accept-Encoding": [",", "a,", "gzip;q=0.1,", "a;", " "],
    "Accept-Language": ["a,", "a;q=0.1,"],
    "Authorization": ["Bearer ", "a"],
    "Content-Digest": ["sha-256=:YQ==:,", "a=::,", ","],
    "Content-Encoding": ["gzip,", "a"],
    "Content-MD5": ["A", "="],
    "Content-Type": [";", ";a=b", ';a="b', ';a="\\', "; "],
    "Cookie": ["a=b;", 'a="', ";", "a"],
    "Host": ["a.", "[", ":1"],
    "Idempotency-Key": ["a"],
    "If-Match": [",", '"a",', 'W/"a",', '"\\', '" ', "a", " "],
    "If-Modified-Since": ["a ", "1", ", "],
    "If-None-Match": [",", '"a",', 'W/"a",', '"\\', '" ', "a", " "],
    "If-Range": ['"a",', "a"],
    "Origin": ["a", "https://a.example,"],
    "Range": ["bytes=", "1-2,", ",", "1", "-"],
    "Repr-Digest": ["sha-256=:YQ==:,", "a=::,", ","],
    "User-Agent": ["a", "a/1 (b) "],
    "X-Auth-Token": ["a"],
    "X-File-Password": ["a", "\xff"],
    "X-Forwarded-For": ["127.0.0.1,", ",", "::1,"],
    "X-Forwarded-Host": ["a,", "a."],
    "X-HTTP-Method-Override": ["PATCH"],
}
START = {"Range": "bytes=", "Content-Type": "multipart/form-data"}
QUERIES = ["&", "a=b&", "%41", "tags[]=a&", "tags[1]=a&", "tags[", "search=*&", "[", "a" * 50 + "=&", "fileName=a&"]

JSON_BODIES = {
    "one text": lambda size: json.dumps({"note": "a" * size}),
    "escapes": lambda size: '{"note": "' + "\\u0041" * (size // 6) + '"}',
    "broken escapes": repeated('"\\'),
    "quotes": repeated('"'),
    "blanks": repeated(" "),
    "brackets": repeated("["),
    "one number": lambda size: '{"limits": ' + "1" * size + "}",
    "long numbers": lambda size: '{"limits": [' + ",".join(["1" * (size // 1500)] * 1500) + "]}",
    "an exponent": lambda size: '{"limits": 1e' + "1" * size + "}",
    "long names": lambda size: json.dumps({f"{number:0{size // 1000}}": 1 for number in range(900)}),
    "long labels": lambda size: json.dumps({"labels": {str(number): "a" * (size // 1000) for number in range(900)}}),
    "texts with NUL": lambda size: json.dumps({"labels": ["\0" * (size // 9000)] * 1500}),
}


def part(name, content, more=b""):
    return (
        BOUNDARY + b'\r\nContent-Disposition: form-data; name="' + name + b'"' + more + b"\r\n\r\n" + content + b"\r\n"
    )


FILE = b'; filename="a.txt"'
FORMS = {
    "one file": lambda size: part(b"file", b"a" * size, FILE),
    "line ends": lambda size: part(b"file", b"\r\n" * (size // 2), FILE),
    "almost boundaries": lambda size: part(b"file", (b"\r\n" + BOUNDARY[:-1]) * (size // 63), FILE),
    "many fields": lambda size: part(b"a", b"b") * (size // 130),
    "as many fields as may be": lambda size: part(b"tags[]", b"b" * (size // 198)) * 198 + part(b"file", b"a", FILE),
    "empty files": lambda size: part(b"a", b"", b'; filename=""') * 198 + part(b"file", b"a" * size, FILE),
    "long part headers": lambda size: part(b"a", b"b", b"".join(b"\r\nX-%d: " % n + b"a" * 3000 for n in range(6))) * 9,
    "odd parameters": lambda size: part(b"a", b"b", b';a="\\' * 700 + b'"') * (size // 3000),
    "a text before": lambda size: b"a\r\n" * (size // 3) + part(b"file", b"a", FILE),
    "a text behind": lambda size: part(b"file", b"a", FILE) + BOUNDARY + b"--\r\n" + b"a" * size,
    "no end": lambda size: part(b"file", b"a" * size, FILE)[:-2],
}
BASE64 = {
    "lines": lambda size: base64.encodebytes(b"a" * (size * 3 // 4)),
    "blanks": lambda size: b" " * size + b"YQ==",
    "a letter in a line": lambda size: b"Y\r\nQ\r\n=\r\n=\r\n"[: 6 * 1] * (size // 12 * 2),
    "a data URL": lambda size: b"data:" + b"a" * size,
    "padding": lambda size: b"YQ==" * (size // 4),
}


def assert_linear(send, size, calls=MOST_CALLS):
    """Check that the work for a body or a header grows with its size, and no faster."""
    send(size)  # what is loaded at first is not counted
    works = [count_work(lambda each=each: send(each)) for each in (size, 2 * size, 4 * size)]
    for kind, most in (("calls", calls), ("scanned", MOST_SCANNED)):
        one, two, four = (getattr(work, kind) for work in works)
        assert four - two < 2 * most * size, (kind, works)
        assert four - two < 2.5 * max(two - one, 0) + 2000 + 2 * size, (kind, works)


@pytest.fixture
def uploaded(root):
    return root.upload(b"hello " * 100, public="1").json["filename"]


@pytest.mark.parametrize("name", HEADER_PIECES)
def test_headers(root, collection, uploaded, name):
    def send(size, piece):
        headers = {name: START.get(name, "") + repeated(piece)(size)}
        environ = {"REMOTE_ADDR": "127.0.0.1"}
        root.download(uploaded, headers=headers, environ=environ)
        root.call("PATCH", f"/api/v1/collections/{collection}", json={}, headers=headers)
        root.get("/api/v1/collections", headers=headers)
        root.get("/nothing", headers=headers)
        root.push(collection, b"hello", headers=headers)

    for piece in HEADER_PIECES[name]:
        assert_linear(functools.partial(send, piece=piece), KIB)


def test_queries(root):
    def send(size, piece):
        for path in ("/repository/file", "/api/v1/files", "/repository/collection"):
            root.call("GET", f"{path}?{repeated(piece)(size)}")

    for piece in QUERIES:
        assert_linear(functools.partial(send, piece=piece), KIB, calls=40)


@pytest.mark.parametrize("make", JSON_BODIES.values(), ids=JSON_BODIES)
def test_json(root, collection, make):
    def send(size):
        headers = {"Content-Type": "application/json"}
        for method, path in (
            ("POST", "/repository/collection"),
            ("PATCH", f"/api/v1/collections/{collection}"),
            ("POST", "/api/v1/tokens"),
            ("POST", f"/api/v1/collections/{collection}/runs"),
        ):
            root.call(method, path, body=make(size).encode(), headers=headers)

    assert_linear(send, 32 * KIB)


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_forms(root, make):
    headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY[2:].decode()}"}

    def send(size):
        body = make(size) + (b"" if make is FORMS["no end"] else BOUNDARY + b"--\r\n")
        root.call("POST", "/repository/file/upload?fileName=a.txt&fileOverwrite=1", body=body, headers=headers)

    assert_linear(send, 64 * KIB)
    assert_linear(send, 6 * KIB)  # fewer fields than may be


@pytest.mark.parametrize("make", BASE64.values(), ids=BASE64)
def test_base64(root, make):
    def send(size):
        root.upload(make(size), encoding="base64", fileOverwrite="1")

    assert_linear(send, 64 * KIB)
