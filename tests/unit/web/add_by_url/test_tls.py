"""add-by-url over https: certificates are checked, and the time limit applies."""

import socket
import ssl
import subprocess

import pytest

from support.remote_answers import FAILED, REFUSED, SECONDS
from support.servers.remote import endless, reply, say_nothing


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


@pytest.fixture
def trusted(monkeypatch, remote, self_signed):
    """Start servers whose certificate is trusted."""
    certificate, context = self_signed
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return lambda answers: remote(answers, context=context)


def test_tls_with_a_good_certificate_works(app, add, trusted):
    good = add(f"{trusted({}).origin}/x")

    assert app.get(f"/repository/file/{good.json['filename']}").body == b"content"


def _break_off(connection):
    """Send a body that ends with the connection, and close it without TLS's close_notify, as an attacker would."""
    connection.sendall(reply("200 OK", b"half of a dump"))
    with socket.socket(fileno=connection.detach()) as plain:
        plain.shutdown(socket.SHUT_RDWR)


def _end(connection):
    connection.sendall(reply("200 OK", b"a whole dump"))
    connection.unwrap()


def test_a_body_without_close_notify_at_its_end_is_refused(app, add, kept, trusted):
    server = trusted({"/cut": _break_off, "/whole": _end})

    assert (add(f"{server.origin}/cut", status=400).json["error_code"], kept()) == (FAILED, 0)
    whole = add(f"{server.origin}/whole")

    assert app.get(f"/repository/file/{whole.json['filename']}").body == b"a whole dump"


def _hang_up(connection):
    with socket.socket(fileno=connection.detach()) as plain:
        plain.shutdown(socket.SHUT_RDWR)


def _hang_up_in_the_headers(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    _hang_up(connection)


@pytest.mark.parametrize("answer", [_hang_up, _hang_up_in_the_headers], ids=["before", "in the headers"])
def test_a_cut_is_reported_as_over_plain_http(add, trusted, answer):
    refusal = add(f"{trusted({'/x': answer}).origin}/x", status=400)

    assert refusal.json["error_code"] == FAILED
    assert "broke" in refusal.json["status"]


class TestSilence:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"http.timeout": "2"}  # in which a busy machine agrees on a key, too

    def test_a_silent_server_is_given_up(self, add, trusted):
        refusal = add(f"{trusted({'/x': say_nothing}).origin}/x", status=400)

        assert refusal.json["error_code"] == FAILED
        assert "broke" in refusal.json["status"]


class TestTimeLimit:
    """No fetch of these succeeds, however long it takes until the limit."""

    @pytest.fixture
    def seconds(self):
        return SECONDS

    @pytest.fixture
    def ini(self, ini, seconds):
        return ini | {"http.timeout": str(60 * seconds)}

    @pytest.mark.parametrize(
        "answer",
        [
            endless(reply("200 OK"), b"x", pause=0.1),
            endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.1),
        ],
        ids=["body", "headers"],
    )
    def test_drops_are_limited_in_time(self, add, trusted, answer):
        refusal = add(f"{trusted({'/x': answer}).origin}/x", status=400)

        assert refusal.json["error_code"] == FAILED
        assert "took too long" in refusal.json["status"]

    def test_a_server_that_never_completes_the_handshake_times_out(self, add, remote):
        plain = remote({"/x": say_nothing})

        refusal = add(plain.origin.replace("http:", "https:") + "/x", status=400)

        assert refusal.json["error_code"] in {REFUSED, FAILED}
