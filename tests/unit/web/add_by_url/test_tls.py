"""add-by-url over https: certificates are checked, and the time limit applies."""

import socket
import ssl
import subprocess

import pytest

from support.remote_answers import FAILED, REFUSED
from support.servers.remote import endless, reply, say_nothing


@pytest.fixture
def seconds():
    """A short time limit, because a silent server uses all of it."""
    return 2


@pytest.fixture
def self_signed(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.2", "-addext", "subjectAltName=IP:127.0.0.2"]
    how = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", *subject]
    subprocess.run([*how, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context


def test_an_untrusted_certificate_is_refused(add, remote, self_signed):
    assert add(f"{remote(context=self_signed[1]).origin}/x", status=400).json["error_code"] == REFUSED


def test_tls_with_a_good_certificate_works_and_its_time_is_limited(app, add, monkeypatch, remote, self_signed):
    certificate, context = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = remote({"/slow": endless(reply("200 OK"), b"x", pause=0.1)}, context=context)

    good, slow = add(f"{server.origin}/x"), add(f"{server.origin}/slow", status=400)

    assert app.get(f"/repository/file/{good.json['filename']}").body == b"content"
    assert slow.json["error_code"] == FAILED


def _break_off(connection):
    """Send a body that ends with the connection, and close it without TLS's close_notify, as an attacker would."""
    connection.sendall(reply("200 OK", b"half of a dump"))
    with socket.socket(fileno=connection.detach()) as plain:
        plain.shutdown(socket.SHUT_RDWR)


def _end(connection):
    connection.sendall(reply("200 OK", b"a whole dump"))
    connection.unwrap()


def test_a_body_without_close_notify_at_its_end_is_refused(app, add, kept, monkeypatch, remote, self_signed):
    certificate, context = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = remote({"/cut": _break_off, "/whole": _end}, context=context)

    assert (add(f"{server.origin}/cut", status=400).json["error_code"], kept()) == (FAILED, 0)
    whole = add(f"{server.origin}/whole")

    assert app.get(f"/repository/file/{whole.json['filename']}").body == b"a whole dump"


def _hang_up(connection):
    with socket.socket(fileno=connection.detach()) as plain:
        plain.shutdown(socket.SHUT_RDWR)


def _hang_up_in_the_headers(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    _hang_up(connection)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (_hang_up, "broke"),
        (_hang_up_in_the_headers, "broke"),
        (say_nothing, "broke"),
        (endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.1), "took too long"),
    ],
    ids=["cut before", "cut in the headers", "silent", "drops"],
)
def test_tls_failures_are_reported_like_plain_http_ones(add, monkeypatch, remote, self_signed, answer, says):
    certificate, context = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    server = remote({"/x": answer}, context=context)

    refusal = add(f"{server.origin}/x", status=400)

    assert refusal.json["error_code"] == FAILED
    assert says in refusal.json["status"]


def test_a_server_that_never_completes_the_handshake_times_out(add, remote):
    plain = remote({"/x": say_nothing})

    assert add(plain.origin.replace("http:", "https:") + "/x", status=400).json["error_code"] in {REFUSED, FAILED}
