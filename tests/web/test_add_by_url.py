"""add-by-url against servers on loopback: 127.0.0.2 plays the public ones. No name is ever asked of a real resolver."""

import gzip
import os
import socket
import ssl
import subprocess
import threading
import time

import pytest
from sqlalchemy import func, select

from frepo_core.db.models import Blob, File
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.services.fetching import Fetching
from frepo_core.settings import load_settings
from servers.remote import Remote, endless, ok, redirect, reply

SECONDS = 1.0
REFUSED, REMOTE_STATUS, FAILED = 60005, 60004, 60006


@pytest.fixture
def ini(ini):
    return ini | {
        "add_by_url.allowed_networks": "127.0.0.2/32",
        "http.timeout": "0.4",
        "long_execution_time": str(SECONDS),
    }


@pytest.fixture
def names(monkeypatch):
    """What names resolve to: lists of addresses, one list for each time that the name is asked for."""
    answers = {"localhost": [["127.0.0.1"]] * 9}
    numeric = socket.getaddrinfo

    def getaddrinfo(host, port, *more, **options):
        if host in answers:
            found = answers[host].pop(0)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]
        return numeric(host, port, *more, flags=socket.AI_NUMERICHOST, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers


@pytest.fixture
def remote():
    """Start servers; they are stopped at the end."""
    running = []

    def start(answers=None, **more):
        running.append(Remote(answers or {}, **more))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def token(make_token):
    return make_token(Role.UPLOAD_ALL)


@pytest.fixture
def add(app, names, token):
    """Ask for a URL to be added."""

    def add(url, status=200, token=token, **more):
        return app.post_json(
            "/repository/file/add-by-url", {"fileUrl": url, **more}, headers={"X-Auth-Token": token}, status=status
        )

    return add


@pytest.fixture
def refusal(ini, names):
    """Fetch a URL without storing anything; return the number of the refusal."""
    fetching = Fetching(load_settings(ini, {}))

    def fetch(url):
        with pytest.raises(FrepoError) as caught, fetching.open(url):
            pass
        return caught.value.number

    return fetch


@pytest.fixture
def kept(services, tmp_path):
    """Count what is stored: rows, blobs and files of the storage and of the temporary folder."""

    def count():
        with services.database.reading() as session:
            rows = [session.scalar(select(func.count()).select_from(table)) for table in (File, Blob)]
        on_disk = [path for name in ("storage", "temporary") for path in (tmp_path / name).rglob("*") if path.is_file()]
        return sum(rows) + len(on_disk)

    return count


def test_a_url_is_stored_under_the_name_in_its_path(app, add, remote):
    answer = add(f"{remote().origin}/a/hello.txt?x=1#y", tags=["a"], public=True)

    assert answer.json["requested_filename"] == "hello.txt"
    assert app.get(f"/repository/file/{answer.json['filename']}").body == b"content"


def test_what_is_known_already_answers_202(add, remote):
    first = add(f"{remote().origin}/a.txt")

    second = add(f"{remote().origin}/b.txt", status=202)

    assert (second.json["id"], second.json["requested_filename"]) == (first.json["id"], "b.txt")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("", "file"),
        ("/", "file"),
        ("/..", "file"),
        ("/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "passwd"),
        ("/a/b/", "b"),
        ("/%C5%BC%C3%B3%C5%82w.tar.gz", "_w.tar.gz"),
        ("/żółw.txt", "_w.txt"),
        ("/%20a%20b%20", "a b"),
        ("/a%00b%0d%0ac.txt", "a_b_c.txt"),
        ("/" + "x" * 300 + ".sql.gz", "x" * 193 + ".sql.gz"),
        ("/%ff%fe", "file"),
    ],
)
def test_the_name_is_cleaned(add, remote, path, name):
    assert add(f"{remote().origin}{path}").json["requested_filename"] == name


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.1",
        "127.0.1",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0x7f000001",
        "0x7f.0.0.0x1",
        "0",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[2001:0:808:808:0:ffff:80ff:fffe]",
        "[fe80::1%25lo]",
        "[fe80::1]",
        "[ff02::1]",
        "169.254.169.254",
        "100.64.0.1",
        "10.0.0.1",
        "224.0.0.1",
        "127.0.0.2@127.0.0.1",
        "user:word@127.0.0.1",
        "127.0.0.2\\@127.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
    ],
)
def test_no_spelling_of_a_closed_address_is_reached(refusal, remote, host):
    closed = remote(address="127.0.0.1")

    number = refusal(f"http://{host}:{closed.port}/x")

    assert (number, closed.requests) == (REFUSED, [])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.2/x",
        "file:///etc/passwd",
        "gopher://127.0.0.2/x",
        "data:text/plain,hello",
        "//127.0.0.2/x",
        "127.0.0.2/x",
        "http:",
        "http://",
        "http:///x",
        "http://:80/x",
        "http://[::1/x",
        "http://[v1.x]/x",
        "http://[127.0.0.2]/x",
        "http://127.0.0.2:99999/x",
        "http://127.0.0.2:-1/x",
        "http://127.0.0.2:http/x",
        "http://a\u2100b/x",
        "http://unknown.example/x",
        "http://a b/x",
        "http://%00/x",
        "http://%zz/x",
        "http://a..b/x",
        "http://xn--/x",
        "http://" + "a" * 300 + "/x",
        "http://127.0.0.2\r\nHost: x/x",
    ],
)
def test_a_url_that_leads_nowhere_is_refused(refusal, url):
    assert refusal(url) == REFUSED


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "ftp://127.0.0.2/x", "http://[::1/x", "http://a\u2100b/x"])
def test_a_refused_url_answers_400_and_keeps_nothing(add, kept, url):
    answer = add(url, status=400)

    assert (answer.json["error_code"], answer.json["http_code"], kept()) == (REFUSED, 400, 0)


def test_a_closed_port_is_refused(add, remote):
    gone = remote()
    gone.stop()

    assert add(f"{gone.origin}/x", status=400).json["error_code"] == REFUSED


@pytest.mark.parametrize("body", [{}, {"fileUrl": ""}, {"fileUrl": None}, {"fileUrl": ["x"]}, {"fileUrl": "x" * 9000}])
def test_a_missing_or_odd_url_is_a_mistake_in_its_field(app, token, body):
    answer = app.post_json("/repository/file/add-by-url", body, headers={"token": token}, status=400)

    assert list(answer.json["fields"]) == ["form.fileUrl"]


def test_a_name_that_changes_its_address_after_the_check_gains_nothing(app, add, names, remote):
    open_one = remote()
    closed = remote({"/x": ok(b"the operator's own")}, address="127.0.0.1", port=open_one.port)
    names["rebinding.example"] = [["127.0.0.2"], ["127.0.0.1"]]

    answer = add(f"http://rebinding.example:{open_one.port}/x")

    assert app.get(f"/repository/file/{answer.json['filename']}").body == b"content"
    assert (names["rebinding.example"], closed.requests) == ([["127.0.0.1"]], [])


def test_a_name_that_changes_its_address_between_redirects_is_refused(add, names, remote):
    open_one = remote({"/x": redirect("/y")})
    closed = remote(address="127.0.0.1", port=open_one.port)
    names["rebinding.example"] = [["127.0.0.2"], ["127.0.0.1"]]

    answer = add(f"http://rebinding.example:{open_one.port}/x", status=400)

    assert (answer.json["error_code"], closed.requests) == (REFUSED, [])


def test_a_name_with_one_closed_address_among_open_ones_is_refused(add, names, remote):
    open_one = remote()
    names["mixed.example"] = [["127.0.0.2", "127.0.0.1"]]

    answer = add(f"http://mixed.example:{open_one.port}/x", status=400)

    assert (answer.json["error_code"], open_one.requests) == (REFUSED, [])


def test_the_next_address_of_a_name_is_tried(add, monkeypatch, remote):
    server = remote()
    unknown_family, closed_port = (socket.AF_APPLETALK, server.port), (socket.AF_INET, 9)
    found = [
        (family, socket.SOCK_STREAM, 0, "", ("127.0.0.2", port))
        for family, port in (unknown_family, closed_port, (socket.AF_INET, server.port))
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

    assert add("http://several.example/x.txt").json["requested_filename"] == "x.txt"


def test_five_redirects_are_followed(add, remote):
    server = remote({f"/{n}": redirect(f"/{n + 1}") for n in range(5)})

    assert add(f"{server.origin}/0").json["requested_filename"] == "0"


@pytest.mark.parametrize("answers", [{f"/{n}": redirect(f"/{n + 1}") for n in range(6)}, {"/0": redirect("/0")}])
def test_a_sixth_redirect_is_too_many(add, remote, answers):
    server = remote(answers)

    answer = add(f"{server.origin}/0", status=400)

    assert (answer.json["error_code"], len(server.requests)) == (FAILED, 6)


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:{port}/x", "//localhost:{port}/x", "http://[::ffff:127.0.0.1]:{port}/x"]
)
def test_a_redirect_to_a_closed_address_is_refused(refusal, remote, target):
    closed = remote(address="127.0.0.1")
    server = remote({"/x": redirect(target.format(port=closed.port))})

    number = refusal(f"{server.origin}/x")

    assert (number, closed.requests) == (REFUSED, [])


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.2/x", "gopher://127.0.0.2/", "http://[::1/"])
def test_a_redirect_to_another_scheme_is_refused(refusal, remote, target):
    server = remote({"/x": redirect(target)})

    assert refusal(f"{server.origin}/x") == REFUSED


def test_the_body_of_a_redirect_is_not_read(add, remote):
    head = reply("302 Found", b"", "Location: /y.txt")
    server = remote({"/x.txt": endless(head)})

    assert add(f"{server.origin}/x.txt").json["requested_filename"] == "x.txt"


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "404 Not Found", "500 Error", "599 Odd"])
def test_an_error_of_the_other_server_is_told_but_not_its_body(add, remote, kept, status):
    server = remote({"/x": reply(status, b"the remote's own words")})

    answer = add(f"{server.origin}/x", status=400)

    assert (answer.json["error_code"], kept()) == (REMOTE_STATUS, 0)
    assert "own words" not in answer.text


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Unavailable", "413 Too Large"])
def test_nobody_waits_for_a_server_that_asks_to_come_later(add, remote, status):
    server = remote({"/x": reply(status, b"", "Retry-After: 5")})
    begin = time.monotonic()

    answer = add(f"{server.origin}/x", status=400)

    assert answer.json["error_code"] == REMOTE_STATUS
    assert time.monotonic() - begin < 3


def _hang_up(connection):
    connection.close()


def _say_nothing(connection):
    connection.recv(1)


CHUNKED = "Transfer-Encoding: chunked"


@pytest.mark.parametrize(
    "answer",
    [
        _hang_up,
        _say_nothing,
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
    ],
    ids=range(14),
)
def test_an_answer_that_breaks_is_refused(add, remote, kept, answer):
    server = remote({"/x": answer})

    refusal = add(f"{server.origin}/x", status=400)

    assert (refusal.json["error_code"], kept()) == (FAILED, 0)
    assert "short" not in refusal.text


def test_an_empty_body_is_refused_as_everywhere(add, remote):
    server = remote({"/x": ok(b"")})

    assert add(f"{server.origin}/x", status=400).json["error_code"] == 60003


@pytest.mark.parametrize(
    "answer",
    [
        endless(reply("200 OK")),
        endless(reply("200 OK"), b"x", pause=0.1),
        endless(reply("200 OK", b"", "Content-Length: 9000000000000")),
        endless(reply("200 OK", b"", CHUNKED), b"1\r\nx\r\n", pause=0.1),
        endless(b"HTTP/1.1 200 OK\r\n", b"X", pause=0.1),
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.1),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.05),
    ],
    ids=["flood", "drops", "flood of a length", "drops in chunks", "drops in a header", "headers", "continue"],
)
def test_the_time_for_all_of_it_is_limited(add, remote, kept, answer):
    server = remote({"/x": answer})
    begin = time.monotonic()

    refusal = add(f"{server.origin}/x", status=400)

    assert (refusal.json["error_code"], kept()) == (FAILED, 0)
    assert time.monotonic() - begin < SECONDS + 2


def test_the_time_limit_holds_across_redirects(add, remote):
    def slow_redirect(connection):
        threading.Event().wait(0.3)
        connection.sendall(redirect("/x"))

    server = remote({"/x": slow_redirect})
    begin = time.monotonic()

    add(f"{server.origin}/x", status=400)

    assert time.monotonic() - begin < SECONDS + 0.5


def test_a_time_that_ran_out_while_connecting_ends_the_fetch(add, monkeypatch, remote):
    server = remote({"/x": endless(reply("200 OK"), b"x", pause=0.1)})
    numeric = socket.getaddrinfo

    def slow(*more, **options):
        time.sleep(SECONDS + 0.2)
        return numeric(*more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    begin = time.monotonic()

    answer = add(f"{server.origin}/x", status=400)

    assert answer.json["error_code"] == FAILED
    assert time.monotonic() - begin < SECONDS + 1


def test_the_tokens_size_limit_ends_the_reading(add, make_token, remote, kept):
    small = make_token(Role.UPLOAD_ALL, max_file_size=100_000)
    server = remote({"/x": endless(reply("200 OK"))})
    begin = time.monotonic()

    answer = add(f"{server.origin}/x", status=400, token=small)

    assert (answer.json["error_code"], kept()) == (3001, 0)
    assert time.monotonic() - begin < SECONDS


def test_a_type_that_the_token_may_not_upload_is_refused(add, make_token, remote, kept):
    images = make_token(Role.UPLOAD_IMAGES)

    answer = add(f"{remote().origin}/a.png", status=400, token=images)

    assert (answer.json["error_code"], kept()) == (3000, 0)


def test_what_a_server_encodes_is_stored_as_it_came(app, add, remote):
    packed = gzip.compress(b"content")
    server = remote({"/x.gz": ok(packed, "Content-Encoding: gzip")})

    answer = add(f"{server.origin}/x.gz")

    assert app.get(f"/repository/file/{answer.json['filename']}").body == packed
    assert "Accept-Encoding: identity" in server.requests[0]


def test_no_token_and_no_user_of_the_url_is_sent_on(add, token, remote):
    server = remote()

    add(server.origin.replace("://", "://user:word@") + "/x")

    assert token not in server.requests[0]
    assert "Authorization" not in server.requests[0]


@pytest.mark.parametrize(
    ("roles", "more", "request_more", "reason"),
    [
        ([Role.VIEW_ANY_FILE], {}, {}, "role"),
        ([Role.UPLOAD_ALL], {"tags": ["a"]}, {"tags": ["b"]}, "tag_not_allowed"),
        ([Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD], {}, {"password": "word"}, "invalid_password"),
        ([Role.UPLOAD_ALL], {}, {"fileOverwrite": True}, "overwrite_not_allowed"),
    ],
)
def test_rights_are_checked_before_anything_is_fetched(add, make_token, remote, roles, more, request_more, reason):
    server = remote()

    answer = add(f"{server.origin}/x", status=403, token=make_token(*roles, **more), **request_more)

    assert reason in answer.json["status"]
    assert server.requests == []


def test_a_token_for_one_upload_outlives_a_fetch_that_failed(add, make_token, remote):
    once = make_token(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    server = remote({"/gone": reply("404 Not Found")})
    add(f"{server.origin}/gone", status=400, token=once)

    add(f"{server.origin}/x", status=200, token=once)

    add(f"{server.origin}/y", status=403, token=once)


@pytest.fixture
def self_signed(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.2", "-addext", "subjectAltName=IP:127.0.0.2"]
    how = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *subject]
    subprocess.run([*how, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


def test_a_certificate_that_nobody_vouches_for_is_refused(add, remote, self_signed):
    server = remote(context=self_signed[1])

    assert add(f"{server.origin}/x", status=400).json["error_code"] == REFUSED


def test_tls_with_a_good_certificate_works_and_its_time_is_limited(app, add, monkeypatch, remote, self_signed):
    certificate, context = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = remote({"/slow": endless(reply("200 OK"), b"x", pause=0.1)}, context=context)

    good, slow = add(f"{server.origin}/x"), add(f"{server.origin}/slow", status=400)

    assert app.get(f"/repository/file/{good.json['filename']}").body == b"content"
    assert slow.json["error_code"] == FAILED


def test_a_server_that_never_shakes_hands_is_left(add, remote):
    plain = remote({"/x": _say_nothing})

    assert add(plain.origin.replace("http:", "https:") + "/x", status=400).json["error_code"] in {REFUSED, FAILED}


def test_no_thread_and_no_socket_is_left_behind(add, remote):
    server = remote(
        {
            "/redirect": redirect("/x"),
            "/missing": reply("404 Not Found", b"x" * 100_000),
            "/endless": endless(reply("200 OK")),
            "/short": reply("200 OK", b"short", "Content-Length: 10"),
            "/private": redirect("http://127.0.0.1:1/"),
        }
    )
    add(f"{server.origin}/x")
    server.wait_until_idle()
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))

    for path, status in [("redirect", 202), *((path, 400) for path in ("missing", "endless", "short", "private"))]:
        add(f"{server.origin}/{path}", status=status)

    server.wait_until_idle()
    assert (threading.active_count(), len(os.listdir("/proc/self/fd"))) == (threads, descriptors)


def test_a_fault_of_the_service_while_it_stores_is_not_blamed_on_the_other_server(add, remote, tmp_path):
    server = remote({"/x": ok(b"x" * 1_000_000)})
    (tmp_path / "temporary").rmdir()

    assert add(f"{server.origin}/x", status=500).json["error_code"] == 500
