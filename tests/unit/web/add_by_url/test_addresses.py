"""add-by-url refuses addresses that are not public in any spelling or resolution, and everything except HTTP."""

import socket

from support.remote_answers import REFUSED
from support.servers.remote import ok, redirect


def test_a_closed_address_is_refused_in_every_spelling(refusal, remote):
    for host in [
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
    ]:
        closed = remote(address="127.0.0.1")

        assert (refusal(f"http://{host}:{closed.port}/x"), closed.requests) == (REFUSED, []), host


def test_an_unreachable_url_is_refused(refusal):
    for url in [
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
    ]:
        assert refusal(url) == REFUSED


def test_a_refused_url_answers_400_and_stores_nothing(add, kept):
    for url in ["http://127.0.0.1:1/x", "ftp://127.0.0.2/x", "http://[::1/x", "http://a\u2100b/x"]:
        answer = add(url, status=400)

        assert (answer.json["error_code"], answer.json["http_code"], kept()) == (REFUSED, 400, 0), url


def test_a_closed_port_is_refused(add, remote):
    gone = remote()
    gone.stop()

    assert add(f"{gone.origin}/x", status=400).json["error_code"] == REFUSED


def test_the_checked_address_is_used_although_the_name_changes_it(app, add, names, remote):
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
