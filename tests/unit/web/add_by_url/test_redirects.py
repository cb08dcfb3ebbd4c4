"""add-by-url follows five redirects and checks each of them like the first URL."""

from support.remote_answers import FAILED, REFUSED
from support.servers.remote import endless, ok, redirect, reply


def test_five_redirects_are_followed(add, remote):
    server = remote({f"/{n}": redirect(f"/{n + 1}") for n in range(5)})

    assert add(f"{server.origin}/0").json["requested_filename"] == "0"


def test_a_sixth_redirect_is_too_many(add, remote):
    for answers in [{f"/{n}": redirect(f"/{n + 1}") for n in range(6)}, {"/0": redirect("/0")}]:
        server = remote(answers)

        answer = add(f"{server.origin}/0", status=400)

        assert (answer.json["error_code"], len(server.requests)) == (FAILED, 6), answers


def test_a_redirect_to_a_closed_address_is_refused(refusal, remote):
    for target in ["http://127.0.0.1:{port}/x", "//localhost:{port}/x", "http://[::ffff:127.0.0.1]:{port}/x"]:
        closed = remote(address="127.0.0.1")
        server = remote({"/x": redirect(target.format(port=closed.port))})

        assert (refusal(f"{server.origin}/x"), closed.requests) == (REFUSED, []), target


def test_a_redirect_to_another_scheme_is_refused(refusal, remote):
    for target in ["file:///etc/passwd", "ftp://127.0.0.2/x", "gopher://127.0.0.2/", "http://[::1/"]:
        server = remote({"/x": redirect(target)})

        assert refusal(f"{server.origin}/x") == REFUSED, target


def test_a_redirect_in_utf8_is_followed(add, remote):
    server = remote({"/x": redirect("/größe.txt"), "/gr%C3%B6%C3%9Fe.txt": ok(b"found")})

    assert add(f"{server.origin}/x").json["size"] == len(b"found")


def test_the_body_of_a_redirect_is_not_read(add, remote):
    head = reply("302 Found", b"", "Location: /y.txt")
    server = remote({"/x.txt": endless(head)})

    assert add(f"{server.origin}/x.txt").json["requested_filename"] == "x.txt"
