"""`frepo-client pull` and `verify`: a restore that is wrong never ends with 0."""

import gzip
import os
import random

import pytest

from frepo_client.reporter import size_text
from support.proxies.old_proxy import old_proxy
from support.reliability.faulty_proxy import FaultyProxy
from support.scale import first_of
from support.servers.processes import is_running
from support.wire import eventually

SIZE = 12 << 20


@pytest.fixture
def content():
    return random.Random(7).randbytes(SIZE)


@pytest.fixture
def stored(machine, content):
    """A collection with one version."""
    machine.home.joinpath("dump").write_bytes(content)
    machine.run("push", "shop.sql", "dump")
    return content


@pytest.fixture
def proxy(machine):
    with FaultyProxy(machine.service.address) as proxy:
        machine.url = proxy.url
        yield proxy


@pytest.mark.costly
def test_a_version_becomes_a_file_of_its_name(machine, stored):
    name = "shop-v1.sql"

    done = machine.run("pull", "shop.sql")

    assert done.stdout.decode().rstrip().endswith(f"is in {name}")
    assert machine.home.joinpath(name).read_bytes() == stored
    assert machine.home.joinpath(name).stat().st_mode & 0o777 == 0o600


@pytest.mark.costly
def test_a_download_goes_on_after_cuts(machine, stored, proxy):
    for after in first_of((7 << 20, 3 << 20)):
        proxy.arm("cut", "down", after)
        machine.run("pull", "shop.sql", "-o", f"restored-{after}")

        assert machine.home.joinpath(f"restored-{after}").read_bytes() == stored


def test_a_client_that_was_killed_goes_on(machine, stored, proxy):
    proxy.arm("hold", "down", 8 << 20)
    client = machine.start("pull", "shop.sql", "-o", "restored")
    proxy.wait_until_held()
    assert eventually(True, lambda: arrived(machine) > 1 << 20)
    client.kill()
    client.wait()
    proxy.release()
    assert arrived(machine) < SIZE

    machine.run("pull", "shop.sql", "-o", "restored")

    assert machine.home.joinpath("restored").read_bytes() == stored
    assert list(machine.home.glob(".restored*")) == []


@pytest.mark.costly
def test_a_download_goes_on_through_a_proxy_that_knows_no_ranges(machine, stored, proxy):
    proxy.arm("cut", "down", 7 << 20)
    machine.run("--retry", "0", "pull", "shop.sql", "-o", "restored", check=30)
    assert arrived(machine) > 1 << 20

    with old_proxy(dropped=["range"]) as (url, _):
        machine.run("pull", "shop.sql", "-o", "restored", http_proxy=url)

    assert machine.home.joinpath("restored").read_bytes() == stored


@pytest.mark.costly
def test_more_bytes_than_were_stored_are_wrong(machine, stored):
    command = ["sh", "-c", "cat >/dev/null; echo end > end"]
    with old_proxy(more=b" ") as (url, _):  # after JSON, it changes nothing
        done = machine.run("pull", "shop.sql", "--into", "--", *command, check=12, http_proxy=url)

    assert f"instead of {SIZE} with".encode() in done.stderr
    assert not machine.home.joinpath("end").exists()


@pytest.mark.costly
def test_wrong_bytes_never_become_a_file(machine, stored, proxy):
    proxy.arm("flip", "down", 5 << 20)

    done = machine.run("pull", "shop.sql", "-o", "restored", check=12)

    assert "is not the one that was stored" in done.stderr.decode()
    assert list(machine.home.glob("*restored*")) == list(machine.home.glob(".restored*")) == []
    assert done.stdout == b""


def test_a_command_never_gets_the_end_of_wrong_bytes(machine, stored, proxy):
    machine.run("pull", "shop.sql", "--into", "--", "sh", "-c", "cat > right; echo end > end")
    assert machine.home.joinpath("right").read_bytes() == stored
    machine.home.joinpath("end").unlink()
    proxy.arm("flip", "down", 5 << 20)

    machine.run("pull", "shop.sql", "--into", "--", "sh", "-c", "cat > wrong; echo end > end", check=12)
    proxy.arm("flip", "down", 5 << 20)
    machine.run("verify", "shop.sql", check=12)

    assert (False, []) == (machine.home.joinpath("end").exists(), told(machine))


@pytest.mark.costly
def test_a_command_never_gets_the_end_if_the_client_is_killed(machine, stored, proxy):
    proxy.arm("hold", "down", 5 << 20)
    command = ["sh", "-c", "echo $$ > pid; cat > half; echo end > end"]
    client = machine.start("pull", "shop.sql", "--into", "--", *command)
    proxy.wait_until_held()
    half = machine.home / "half"
    assert eventually(True, lambda: half.exists() and half.stat().st_size > 1 << 20)

    client.kill()
    client.wait()

    assert not eventually(False, lambda: is_running(int((machine.home / "pid").read_text())))
    assert not machine.home.joinpath("end").exists()


@pytest.mark.costly
def test_a_command_that_fails_is_a_restore_that_failed(machine, stored):
    done = machine.run("pull", "shop.sql", "--into", "--", "sh", "-c", "head -c 100 >/dev/null; exit 3", check=20)

    assert "sh ended with 3" in done.stderr.decode()


@pytest.mark.costly
@pytest.mark.parametrize("size", [30, SIZE], ids=["small", "large"])
def test_a_command_that_does_not_read_everything_has_restored_nothing(machine, size):
    machine.home.joinpath("dump").write_bytes(random.Random(7).randbytes(size))
    machine.run("push", "shop.sql", "dump")

    for words in (["pull", "shop.sql", "--into"], ["verify", "shop.sql", "--with"]):
        done = machine.run(*words, "--", "dd", "bs=1", "count=10", check=20)
        assert f"dd has read only 10 bytes, and left {size_text(size - 10)}".encode() in done.stderr + done.stdout
    assert [] == told(machine)


@pytest.mark.costly
def test_compression_is_undone_if_the_file_does_not_ask_for_it(machine):
    machine.home.joinpath("dump").write_bytes(gzip.compress(b"INSERT"))
    machine.run("push", "shop.sql", "dump")

    machine.run("pull", "shop.sql", "good", "-o", "restored.sql")
    machine.run("pull", "shop.sql", "v1", "-o", "restored.sql.gz")

    assert machine.home.joinpath("restored.sql").read_bytes() == b"INSERT"
    assert gzip.decompress(machine.home.joinpath("restored.sql.gz").read_bytes()) == b"INSERT"


def test_a_version_that_is_not_there_is_said_so(machine):
    done = machine.run("pull", "shop.sql", "v9", check=40)

    assert "has no version 'v9' (HTTP 404)" in done.stderr.decode()


@pytest.mark.costly
def test_a_restore_test_is_told_to_the_server(machine, stored):
    machine.run("verify", "shop.sql")
    machine.run("verify", "shop.sql", "--with", "--", "sh", "-c", "cat >/dev/null; exit 1", check=20)

    assert [("broken", "sh ended with 1")] == told(machine)


# How the command ends, the exit status of verify, and what is said.
NOTHING_KNOWN = {
    "exit 75": (10, b"sh cannot test now (exit status 75)"),
    "exit 77": (10, b"sh cannot test this version (exit status 77)"),
    "nosuchprogram": (20, b"sh ended with 127: a program was not found; install it, or write its whole path"),
    "kill -9 $$": (20, b"sh was killed by signal 9"),
}


@pytest.mark.costly
@pytest.mark.parametrize("end", NOTHING_KNOWN)
def test_a_test_that_could_not_be_made_says_nothing_about_the_version(machine, end):
    machine.run("pipe", "shop.sql", "--", "echo", "INSERT")
    status, message = NOTHING_KNOWN[end]

    done = machine.run("verify", "shop.sql", "--with", "--", "sh", "-c", f"cat >/dev/null; {end}", check=status)

    assert message in done.stderr
    assert [] == told(machine)


@pytest.mark.costly
def test_the_restore_test_of_a_job_is_what_verify_runs(machine, stored):
    machine.home.joinpath("job.env").write_text("SCRATCH=restored\n")
    machine.home.joinpath("client.toml").write_text("""
        [job.shop]
        collection = "shop.sql"
        command = ["true"]
        restore_test = [["cat"], ["sh", "-c", "cat > $SCRATCH"]]
        env_file = "job.env"
    """)

    verify = ["--config", "client.toml", "verify", "shop.sql"]

    machine.run(*verify)
    machine.run(*verify, "--with", "--", "sh", "-c", "cat > $SCRATCH.2")

    assert [stored] * 2 == [machine.home.joinpath(name).read_bytes() for name in ("restored", "restored.2")]


@pytest.mark.costly
def test_a_restore_test_whose_program_is_missing_says_nothing_about_the_version(machine, stored):
    done = machine.run("verify", "shop.sql", "--with", "--", "pqsl", "scratch", check=20)

    assert b"the program pqsl is missing on this machine" in done.stderr
    assert [] == told(machine)


@pytest.mark.costly
def test_a_token_never_goes_to_another_server(machine, stored, proxy):
    """Neither after a redirect nor in an argument, which other users of the machine see."""
    proxy.arm("hold", "down", 1 << 20)
    client = machine.start("pull", "shop.sql", "-o", "restored")
    proxy.wait_until_held()

    with open(f"/proc/{client.pid}/cmdline", "rb") as file:
        assert machine.token_file.read_bytes() not in file.read()
    client.kill()
    client.wait()
    assert eventually([], lambda: [one for one in os.listdir(machine.home) if one == "restored"]) == []


def told(machine):
    """Return what the server was told of restore tests of the first version."""
    checks = machine.call("GET", f"collections/{machine.collection}/versions/v1/checks")["items"]
    return [(check["outcome"], check["message"]) for check in checks if check["name"] == "restore (client)"]


def arrived(machine):
    """Return how many bytes of a download are kept."""
    return sum(part.stat().st_size for part in machine.home.glob(".restored*.part"))
