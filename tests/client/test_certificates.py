"""Which certificates the client trusts, and what that costs."""

import os
import subprocess

import pytest

from support.servers import nginx

pytestmark = pytest.mark.costly


def make_certificate(folder):
    """Make key.pem and cert.pem for 127.0.0.1."""
    how = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run([*how, *subject, *files], check=True, capture_output=True)


@pytest.mark.skipif(nginx.MISSING is not None, reason=str(nginx.MISSING))
def test_a_certificate_of_an_own_authority_needs_ca_file(machine):
    folder, config = machine.home, machine.home / "client.toml"
    make_certificate(folder)
    with nginx.nginx([machine.service.address], certificate=folder) as proxy:
        machine.url = f"https://127.0.0.1:{proxy.port}"
        done = machine.run("--retry", "0", "pipe", "shop.sql", "--", "echo", "INSERT", check=30)
        config.write_text(f'[server]\nca_file = "{folder}/cert.pem"\n')
        machine.run("--config", "client.toml", "pipe", "shop.sql", "--", "echo", "INSERT")

    assert b"its certificate is not trusted (self-signed certificate); ca_file of [server]" in done.stderr
    assert 1 == len(machine.versions())


@pytest.mark.skipif(nginx.MISSING is not None, reason=str(nginx.MISSING))
def test_a_host_enrols_with_an_own_authority_and_keeps_it(machine):
    code = machine.call("POST", "enrolments", {"name": "db1", "collections": [machine.collection]})["code"]
    own = ["--config", "own.toml", "--token-file", "own-token"]
    make_certificate(machine.home)
    with nginx.nginx([machine.service.address], certificate=machine.home) as proxy:
        machine.url = f"https://127.0.0.1:{proxy.port}"
        enroll = ["enroll", machine.url, "--code", code]
        refused = machine.run(*own, "--retry", "0", *enroll, check=30)
        machine.run(*own, *enroll, "--ca-file", "cert.pem")
        checked = machine.run(*own, "check")

    assert b"--ca-file of enroll" in refused.stderr
    assert b"the token is db1" in checked.stdout
    assert f'ca_file = "{machine.home}/cert.pem"\n' in (machine.home / "own.toml").read_text()


@pytest.mark.skipif(nginx.MISSING is not None, reason=str(nginx.MISSING))
def test_certificates_are_read_once_for_all_requests(machine):
    folder, config = machine.home, machine.home / "client.toml"
    make_certificate(folder)
    os.mkfifo(folder / "once.pem")  # who reads it a second time waits for ever
    config.write_text(f'[server]\nca_file = "{folder}/once.pem"\n')
    with nginx.nginx([machine.service.address], certificate=folder) as proxy:
        machine.url = f"https://127.0.0.1:{proxy.port}"
        with machine.start("--config", "client.toml", "pipe", "shop.sql", "--", "echo", "INSERT") as client:
            (folder / "once.pem").write_bytes((folder / "cert.pem").read_bytes())
            try:
                status = client.wait(30)
            finally:
                client.kill()

    assert 0 == status
    assert 1 == len(machine.versions())


def test_a_connection_without_encryption_reads_no_certificates(machine):
    os.mkfifo(machine.home / "never.pem")
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT", SSL_CERT_FILE=str(machine.home / "never.pem"))

    assert 1 == len(machine.versions())
