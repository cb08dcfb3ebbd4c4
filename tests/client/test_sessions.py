"""Uploads of the client that go on: a cut costs at most one part, a client that is killed costs nothing twice."""

import hashlib
import random
import time

import pytest

from frepo_client.uploads.session import PART
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import only_in_long_form
from support.wire import eventually

SIZE = 3 * PART + (5 << 20)
# What else is sent: heads, and the rest of a part that was on its way.
SLACK = 1 << 20


@pytest.fixture
def dump(machine):
    path = machine.home / "dump"
    path.write_bytes(random.Random(3).randbytes(SIZE))
    return path


@pytest.fixture
def digest(dump):
    return hashlib.sha256(dump.read_bytes()).hexdigest()


@pytest.fixture
def proxy(machine):
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        yield proxy


def test_a_client_that_was_killed_sends_the_rest(machine, dump, digest, proxy):
    client = hold_second_part(machine, proxy)
    client.kill()
    client.wait()
    proxy.release()
    before = proxy.received

    machine.run("push", "shop.sql", "dump")

    assert [version["sha256"] for version in machine.versions()] == [digest]
    assert proxy.received - before <= SIZE - PART + SLACK


@only_in_long_form
def test_a_file_that_changes_is_sent_anew(machine, dump, digest, proxy):
    client = hold_second_part(machine, proxy)
    client.kill()
    client.wait()
    proxy.release()
    dump.write_bytes(b"another")

    machine.run("push", "shop.sql", "dump")

    assert [version["size"] for version in machine.versions()] == [7]


def test_a_dump_that_fails_late_leaves_nothing(machine, dump):
    machine.run("pipe", "shop.sql", "--", "sh", "-c", "cat dump; exit 1", check=20)

    assert machine.versions() == []
    assert [one for one in machine.call("GET", "uploads")["items"] if one["collection"] == machine.collection] == []
    assert [run["exit_statuses"] for run in machine.runs()] == [[1]]


def test_a_lost_answer_to_the_creation_leaves_no_upload(machine, proxy):
    proxy.arm("cut", "down", 10)

    machine.run("pipe", machine.collection, "--", "echo", "INSERT")

    assert (True, []) == (proxy.is_over, machine.call("GET", f"uploads?collection={machine.collection}")["items"])


def test_an_empty_file_is_no_backup(machine):
    machine.home.joinpath("dump").touch()

    done = machine.run("push", "shop.sql", "dump", check=40)

    assert b"The content is empty, there is nothing to store" in done.stderr
    assert [] == machine.versions()


def test_limit_rate_leaves_the_line_to_others(machine):
    machine.home.joinpath("dump").write_bytes(random.Random(1).randbytes(200_000))
    machine.home.joinpath("client.toml").write_text('[defaults]\nlimit_rate = "250k"\n')

    began = time.monotonic()
    machine.run("--config", "client.toml", "push", "shop.sql", "dump")

    assert time.monotonic() - began >= 200_000 / 250_000


def hold_second_part(machine, proxy, **options):
    """Start to push, and hold the connection in the middle of the second part; the first one is acknowledged."""
    client = machine.start("push", "shop.sql", "dump", **options)
    assert eventually(True, lambda: proxy.received > PART, 60)
    proxy.arm("hold", "up", PART // 2)
    proxy.wait_until_held()
    return client
