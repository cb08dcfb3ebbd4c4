"""Compression on the way: the service stores what the command has printed, so that it can compact it."""

import hashlib
import random
import subprocess
import sys
import threading

import pytest

from frepo_client.uploads.session import PART
from support.proxies.old_proxy import old_proxy
from support.wire import eventually

from .conftest import Machine

TEXT = b"INSERT INTO orders VALUES (1);\n" * 40_000
SIZE = len(TEXT)


@pytest.fixture
def dump(machine):
    path = machine.home / "dump.sql"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def send(machine, dump):
    """Run the client; return how many bytes of bodies it has sent, and what the service has stored."""

    def send(*words, answered=bytes, **more):
        sizes = []
        with old_proxy(changed=lambda body: sizes.append(len(body)) or body, answered=answered) as (url, _):
            machine.run(*words, http_proxy=url, **more)
        [version] = machine.versions()
        return sum(sizes), version

    return send


@pytest.mark.parametrize("words", [("pipe", "shop.sql", "--", "cat", "dump.sql"), ("push", "shop.sql", "dump.sql")])
def test_what_is_not_compressed_is_sent_compressed_and_stored_as_it_was(send, words):
    sent, version = send(*words)

    assert sent < SIZE / 10
    assert (SIZE, hashlib.sha256(TEXT).hexdigest()) == (version["size"], version["sha256"])


def test_a_dump_in_the_spool_is_sent_so(machine, send):
    machine.home.joinpath("client.toml").write_text(f"""
        [defaults]
        spool = "spool"
        [job.shop]
        collection = "{machine.collection}"
        command = ["cat", "dump.sql"]
    """)
    sent, version = send("--config", "client.toml", "run")

    assert (True, SIZE) == (sent < SIZE / 10, version["size"])


@pytest.mark.parametrize("how", ["option", "configuration"])
def test_it_can_be_switched_off(machine, send, how):
    machine.home.joinpath("client.toml").write_text('[defaults]\ncontent_encoding = "none"\n')
    before, after = (
        (["--config", "client.toml"], []) if how == "configuration" else ([], ["--content-encoding", "none"])
    )
    sent, version = send(*before, "pipe", "shop.sql", *after, "--", "cat", "dump.sql")

    assert sent >= SIZE == version["size"]


def test_an_older_server_gets_what_it_got_before(send):
    """It does not say that it undoes a compression."""
    sent, version = send(
        "pipe", "shop.sql", "--", "cat", "dump.sql", answered=lambda body: body.replace(b"content_codings", b"unknown")
    )

    assert sent >= SIZE == version["size"]


@pytest.mark.parametrize("last", [["gzip"], ["sh", "-c", "cat"]])
def test_a_stage_that_compresses_is_left_alone(machine, dump, last):
    machine.run("pipe", "shop.sql", "--", "cat", "dump.sql", ":::", *last)

    [version] = machine.versions()
    assert (last == ["gzip"]) == (version["size"] < SIZE / 10)


@pytest.mark.costly
def test_a_last_stage_that_compresses_is_named_once_if_the_service_compacts(machine, dump):
    def compacts_not(body):
        return body.replace(b'"compacts":true', b'"compacts":false')

    words = ["pipe", "shop.sql", "--", "cat", "dump.sql", ":::", "gzip"]
    with old_proxy(answered=compacts_not) as (url, _):
        said = [machine.run(*words, http_proxy=url).stderr.decode()]
    said += [machine.run(*words).stderr.decode() for _ in range(2)]

    assert "cannot compact what gzip has compressed. Leave that stage out" in said[1]
    assert ("", True, "") == (said[0], "cat dump.sql is compressed on the way" in said[1], said[2])


def test_noise_costs_nothing_on_the_way(machine, send, dump):
    noise = random.Random(5).randbytes(300_000)
    dump.write_bytes(noise)
    sent, version = send("pipe", "shop.sql", "--", "cat", "dump.sql")

    assert len(noise) < sent < len(noise) + 2000
    assert hashlib.sha256(noise).hexdigest() == version["sha256"]


def run_with_zstd(machine, *words):
    """Run the client by this Python, which has backports.zstd."""
    command = [sys.executable, str(machine.program), *words]
    return subprocess.run(command, env=machine.environment, cwd=machine.home, check=False)


@pytest.mark.costly
def test_zstd_needs_a_newer_python_or_a_package(machine, dump):
    words = machine.command("push", "--content-encoding", "zstd", "shop.sql", "dump.sql")
    old = machine.run(*words[2:], check=2)
    new = run_with_zstd(machine, *words[2:])

    assert b"needs Python 3.14, or the package backports.zstd" in old.stderr
    assert (0, [SIZE]) == (new.returncode, [version["size"] for version in machine.versions()])


@pytest.mark.parametrize("run", [Machine.run, run_with_zstd], ids=["gzip", "zstd"])
def test_a_dump_of_zeros_does_not_become_too_small(machine, dump, run):
    """The service refuses what becomes more than 1,000 times as large."""
    dump.write_bytes(b"dump".ljust(PART + 100, b"\0"))

    assert 0 == run(machine, "pipe", "shop.sql", "--", "cat", "dump.sql").returncode
    assert [PART + 100] == [version["size"] for version in machine.versions()]


def test_an_unknown_coding_in_the_configuration_is_named(machine):
    machine.home.joinpath("client.toml").write_text('[defaults]\ncontent_encoding = "br"\n')

    done = machine.run("--config", "client.toml", "push", "shop.sql", "dump.sql", check=2)

    assert b"[defaults] content_encoding 'br': write auto, none, zstd or gzip" in done.stderr


@pytest.mark.costly
@pytest.mark.parametrize("is_lost", [True, False])
def test_a_client_that_was_killed_goes_on_with_the_next_part(machine, dump, is_lost):
    """It is killed while its second part is on the way, which arrives or not."""
    text = random.Random(7).randbytes(PART + 1000).hex().encode()
    dump.write_bytes(text)
    sizes, is_held, go = [], threading.Event(), threading.Event()

    def hold_second_part(body):
        if len(body) > 1 << 20:
            sizes.append(len(body))
        if len(sizes) == 2 and len(body) > 1 << 20:
            is_held.set()
            assert go.wait(60)
            return bytes(len(body)) if is_lost else body  # the service compares the checksum
        return body

    def received():
        [upload] = [one for one in machine.call("GET", "uploads")["items"] if one["collection"] == machine.collection]
        return upload["offset"]

    with old_proxy(changed=hold_second_part) as (url, _):
        client = subprocess.Popen(
            machine.command("push", "shop.sql", "dump.sql"),
            env=machine.environment | {"http_proxy": url},
            cwd=machine.home,
        )
        assert is_held.wait(60)
        client.kill()
        client.wait()
        first, second = sizes
        go.set()
        expected = first if is_lost else first + second
        assert expected == eventually(expected, received, 60)
        machine.run("push", "shop.sql", "dump.sql", http_proxy=url)

    [version] = machine.versions()
    assert hashlib.sha256(text).hexdigest() == version["sha256"]
    assert [first, second] + ([second] if is_lost else []) == sizes
