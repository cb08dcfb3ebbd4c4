"""`frepo-client restore`: the backup of a job comes back, with a token that may download, and with how to load it."""

import contextlib
import gzip
import os
import pty
import subprocess

import pytest

from frepo_client.restores.loading_lines import loading_line
from frepo_core.features.restore import loading_lines as of_the_service

DUMP = b"--\n-- PostgreSQL database dump\n--\n\n--\n-- PostgreSQL database dump complete\n--\n"
CONFIGURATION = '[job.nightly]\ncollection = "shop.sql"\ncommand = ["cat", "dump"]\n'


@pytest.fixture
def host(machine):
    """A machine whose own token may only upload, with two versions of its job; `reader` may download."""
    machine.home.joinpath("client.toml").write_text(CONFIGURATION)
    machine.token_file.rename(machine.home / "reader")
    roles = ["collections.upload_to_allowed_collections"]
    token = machine.call("POST", "tokens", {"roles": roles, "name": "cron", "expires_at": None})
    machine.call("PUT", f"collections/{machine.collection}/access/{token['fingerprint']}")
    machine.token_file.write_text(token["secret"])
    for content in (b"first" + DUMP, DUMP):
        machine.home.joinpath("dump").write_bytes(content)
        machine.run("--config", "client.toml", "run")
    return machine


def test_a_job_is_restored_with_another_token_than_that_of_cron(host):
    refused = host.run("--config", "client.toml", "restore", "nightly", check=40).stderr.decode()
    assert "list_versions_for_allowed_collections" in refused
    assert "--token-file" in refused

    done = host.run("--config", "client.toml", "restore", "nightly", "--token-file", "reader")
    host.run("--config", "client.toml", "restore", "shop.sql", "--version", "1", "-o", "old", "--token-file", "reader")

    assert DUMP == host.home.joinpath("shop-v2.sql").read_bytes()
    assert b"first" + DUMP == host.home.joinpath("old").read_bytes()
    assert "load it: psql -v ON_ERROR_STOP=1 DATABASE < shop-v2.sql" in done.stderr.decode()


def test_a_terminal_is_asked_for_the_token(host):
    ours, theirs = pty.openpty()
    command = host.command("--config", "client.toml", "restore", "nightly", "-o", "restored")
    client = subprocess.Popen(
        command, env=host.environment, cwd=host.home, stdin=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    while b"Token: " not in shown:
        shown += os.read(ours, 4096)
    os.write(ours, host.home.joinpath("reader").read_bytes() + b"\n")
    with contextlib.suppress(OSError):  # the terminal is closed
        while piece := os.read(ours, 4096):
            shown += piece

    assert client.wait(60) == 0
    assert host.home.joinpath("reader").read_bytes() not in shown
    assert DUMP == host.home.joinpath("restored").read_bytes()
    os.close(ours)


def test_the_service_says_the_same_about_loading():
    heads = [DUMP, gzip.compress(DUMP), b"PGDMP", b"PK\x03\x04", b"SQLite format 3\x00", b"-- MariaDB dump", b"-"]

    assert [of_the_service.loading_line(head, "a b") for head in heads] == [loading_line(head, "a b") for head in heads]
