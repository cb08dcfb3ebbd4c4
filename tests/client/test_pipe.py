"""`frepo-client pipe`: a dump that failed is never a backup."""

import os
import re
import signal
import subprocess

import pytest

from support.proxies.old_proxy import old_proxy
from support.servers.processes import is_running
from support.wire import eventually

# What ends a stage badly, what the exit statuses are, and what the message says.
FAILURES = {
    "it fails": (
        ["sh", "-c", "echo half; echo 'pg_dump: error: gone' >&2; exit 3"],
        [3, 0],
        "sh ended with 3: pg_dump",
    ),
    "its error has a hint": (
        ["sh", "-c", r"printf 'pg_dump: error: no socket\n\tIs the server running?\n' >&2; exit 1"],
        [1, 0],
        "sh ended with 1: pg_dump: error: no socket",
    ),
    "lines follow its error": (
        ["sh", "-c", r"printf 'a: error: query failed: ERROR: permission denied\na: detail: LOCK\n' >&2; exit 1"],
        [1, 0],
        "sh ended with 1: a: error: query failed: ERROR: permission denied",
    ),
    "it is killed": (["sh", "-c", "echo half; kill -9 $$"], [137, 0], "sh ended with 137"),
    "the second fails": (["true", ":::", "false"], [0, 1, 0], "false ended with 1"),
    "it writes nothing": (["true"], [0, 0], "The command has written nothing: true | gzip"),
}


@pytest.fixture
def pipe(machine):
    """Run `pipe`, with gzip as the last stage."""
    return lambda *command, **more: machine.run("pipe", "shop.sql", "--", *command, ":::", "gzip", **more)


def test_a_command_that_ends_well_is_a_version(machine, pipe):
    done = pipe("echo", "INSERT")

    [version] = machine.versions()
    assert version["number"] == 1
    assert f"version 1 is stored, {version['size']} bytes" in done.stdout.decode()
    [run] = machine.runs()
    assert (run["outcome"], run["exit_statuses"], run["version"]) == ("ok", [0, 0], 1)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_command_that_fails_stores_nothing_and_says_why(machine, pipe, failure):
    command, statuses, message = FAILURES[failure]
    pipe("echo", "good")

    done = pipe(*command, check=20)

    assert message in done.stderr.decode()
    assert [version["number"] for version in machine.versions()] == [1]
    run = machine.runs()[0]
    assert (run["outcome"], run["exit_statuses"]) == ("failed", statuses)
    state = machine.state()
    assert state["state"] == "failed"
    assert "Is the server" not in state["state_reason"]
    assert state["newest_good"]["number"] == 1


def test_a_program_that_is_missing_is_named(machine, pipe):
    done = pipe("pg_dumb", check=20)

    assert "pg_dumb cannot be started: No such file or directory" in done.stderr.decode()
    assert (machine.versions(), machine.runs()[0]["outcome"]) == ([], "failed")


def test_a_command_that_hangs_is_ended_with_its_children(machine):
    command = ["sh", "-c", "echo half; sleep 1000 & echo $! > child; wait"]

    done = machine.run("pipe", "shop.sql", "--timeout", "1s", "--", *command, check=20)

    assert "did not end within its timeout" in done.stderr.decode()
    assert machine.runs()[0]["reason"].startswith("The command did not end within")
    assert machine.runs()[0]["exit_statuses"] == [143]
    child = int((machine.home / "child").read_text())
    assert not eventually(False, lambda: is_running(child))
    assert (machine.versions(), machine.runs()[0]["outcome"]) == ([], "failed")


@pytest.fixture
def heeds_hangups():
    """Let SIGHUP end the programs that are started: under `nohup`, they ignore it as this process does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heeds_hangups")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_client_that_is_ended_stores_nothing_and_stops_the_command(machine, number):
    client = machine.start("pipe", "shop.sql", "--", "sh", "-c", "echo half; echo $$ > child; sleep 1000")
    child = machine.home / "child"
    assert eventually(True, lambda: child.exists() and bool(child.read_text().strip()))

    client.send_signal(number)

    assert client.wait(30) == 130
    assert [run["reason"] for run in machine.runs()] == ["the client was ended while the command ran"]
    assert not eventually(False, lambda: is_running(int(child.read_text())))
    assert machine.versions() == []


# What Python reads before the client: the terminal is lost while the timer of the time limit starts.
LOSES_ITS_TERMINAL = """
import os, signal, threading
start = threading.Timer.start
def lose(timer):
    start(timer)
    while not os.path.exists("child"):
        pass
    os.kill(os.getpid(), signal.SIGHUP)
threading.Timer.start = lose
"""


@pytest.mark.usefixtures("heeds_hangups")
def test_a_client_that_is_ended_while_its_time_limit_starts_stops_the_command(machine):
    machine.home.joinpath("sitecustomize.py").write_text(LOSES_ITS_TERMINAL)
    command = ["pipe", "shop.sql", "--", "sh", "-c", "echo $$ > new; mv new child; sleep 1000"]

    machine.run(*command, check=130, PYTHONPATH=str(machine.home))

    assert not eventually(False, lambda: is_running(int((machine.home / "child").read_text())))
    assert [run["reason"] for run in machine.runs()] == ["the client was ended while the command ran"]


def test_a_version_in_quarantine_has_an_exit_status_of_its_own(machine, pipe):
    machine.call("PATCH", f"collections/{machine.collection}", {"guards": {"min_version_size": 1000}})

    done = pipe("echo", "INSERT", check=11)

    assert "suspicious, in quarantine: " in done.stdout.decode()
    assert [True] == [version["quarantined"] for version in machine.versions()]


def test_a_broken_version_has_an_exit_status_of_its_own(machine):
    """The program says that all is well, and the service sees that the end of the dump is missing."""
    cut = "-- PostgreSQL database dump\n\nCREATE TABLE a (b integer);\n"

    done = machine.run("pipe", "shop.sql", "--", "printf", cut, check=12)

    assert "broken" in done.stdout.decode()
    assert ["broken"] == [version["verdict"] for version in machine.versions()]


@pytest.mark.costly
def test_a_shell_that_hides_failures_is_never_proof(machine):
    done = machine.run("pipe", "shop.sql", "--strict", "--", "sh", "-c", "false | echo INSERT", check=10)
    machine.run("pipe", "shop.sql", "--", "bash", "-o", "pipefail", "-c", "true | echo UPDATE")

    proven, hidden = machine.versions()
    assert (hidden["verdict"], proven["verdict"]) == ("unchecked", "complete")
    assert [run["exit_statuses"] for run in machine.runs()] == [[0], []]
    assert b"a shell with several commands: the exit status of each is not known" in done.stderr


def test_what_a_command_prints_is_shown_and_sent_without_secrets(machine):
    machine.home.joinpath("password").write_text("PGPASSWORD=5ecre7-password\n")
    machine.home.joinpath("client.toml").write_text(f"""
        [job.shop]
        collection = "{machine.collection}"
        command = ["sh", "-c", "echo connecting to postgres://shop:pa55@db with $PGPASSWORD >&2; exit 1"]
        env_file = "password"
    """)

    done = machine.run("--config", "client.toml", "run", check=20)

    assert machine.runs()[0]["error_output"].strip() == "connecting to postgres://***@db with ***"
    assert b"connecting to postgres://shop:***@db with ***\n" in done.stderr
    assert b"pa55" not in done.stderr
    assert b"5ecre7" not in done.stderr


def test_warnings_of_a_command_that_ends_well_go_with_its_run(machine, pipe):
    pipe("sh", "-ec", "echo 'tar: /etc/mtab: file changed' >&2; echo INSERT")

    [run] = machine.runs()
    assert (run["outcome"], run["exit_statuses"], run["version"]) == ("ok", [0, 0], 1)
    assert run["error_output"] == "tar: /etc/mtab: file changed\n"
    assert run["client"].startswith("frepo-client/")


def test_a_server_that_is_down_is_another_failure_than_a_dump(machine):
    machine.url = "http://127.0.0.1:1"

    done = machine.run("--retry", "2s", "pipe", "shop.sql", "--", "echo", "INSERT", check=30)

    assert "http://127.0.0.1:1 cannot be reached: Connection refused" in done.stderr.decode()


@pytest.mark.costly
def test_a_failure_is_reported_when_the_server_is_back(machine):
    client = machine.start(
        "pipe",
        "shop.sql",
        "--",
        "sh",
        "-c",
        "touch begun; while [ ! -e go ]; do sleep 0.05; done; exit 3",
        stderr=subprocess.PIPE,
    )
    assert eventually(True, (machine.home / "begun").exists)
    machine.service.stop()
    (machine.home / "go").touch()
    while b"next attempt" not in client.stderr.readline():
        assert client.poll() is None
    machine.service.start()

    assert client.wait(60) == 20
    client.stderr.close()
    assert [(run["outcome"], run["exit_statuses"]) for run in machine.runs()] == [("failed", [3])]
    assert machine.state()["state"] == "failed"


def test_a_refusal_is_said_in_the_words_of_the_server(machine):
    machine.call("PATCH", f"collections/{machine.collection}", {"guards": {"min_version_size": 1000}})
    machine.call("PATCH", f"collections/{machine.collection}", {"guards": {"on_suspicious": "refuse"}})

    done = machine.run("pipe", "shop.sql", "--", "echo", "INSERT", check=40)

    assert "(HTTP 4" in done.stderr.decode()
    assert machine.versions() == []
    assert [run["outcome"] for run in machine.runs()] == ["failed"]


def test_a_token_that_is_not_on_the_list_is_said_once_and_recorded(machine):
    machine.call("DELETE", f"collections/{machine.collection}/access/{machine.fingerprint}")

    done = machine.run("pipe", machine.collection, "--", "echo", "INSERT", check=40)

    assert [b"frepo-client: The token may not do this in the collection: version.upload is needed (HTTP 403)"] == (
        done.stderr.splitlines()
    )
    path = f"events?kind=version.refused&collection={machine.collection}"
    told = eventually(["access_denied"], lambda: [one["data"]["reason"] for one in machine.call("GET", path)["items"]])
    assert ["access_denied"] == told  # an event is shown when the worker has numbered it


def test_another_digest_than_that_of_the_dump_is_one_failed_run(machine):
    with old_proxy(changed=lambda body: re.sub(rb'"sha256": "..', b'"sha256": "00', body)) as (url, _):
        done = machine.run("pipe", "shop.sql", "--", "echo", "INSERT", check=40, http_proxy=url)

    assert b"does not match the digest" in done.stderr
    assert (["failed"], []) == ([run["outcome"] for run in machine.runs()], machine.versions())


def test_a_dump_waits_in_the_spool_while_the_server_is_down(machine):
    machine.home.joinpath("client.toml").write_text(f"""
        [defaults]
        spool = "{machine.home}/spool"
        retry = "1s"
        [job.shop]
        collection = "{machine.collection}"
        command = [["date", "+%N"], ["gzip"]]
    """)
    run = ["--config", "client.toml", "run"]
    machine.service.stop()

    done = machine.run(*run, check=30)
    assert f"dumps that wait in {machine.home}/spool: 1" in done.stderr.decode()
    machine.service.start()
    machine.run(*run)

    assert [version["number"] for version in machine.versions()] == [2, 1]
    assert os.listdir(machine.home / "spool") == []


@pytest.mark.costly
def test_half_a_dump_of_a_client_that_was_killed_does_not_stay_in_the_spool(machine):
    machine.home.joinpath("client.toml").write_text(f"""
        [job.shop]
        collection = "shop.sql"
        command = ["sh", "-ec", "yes x | head -c 20000000; echo $$ > pid; test -e go || exec sleep 1000"]
        spool = "{machine.home}/spool"
    """)
    client = machine.start("--config", "client.toml", "run")
    pid = machine.home / "pid"
    assert eventually(True, lambda: pid.exists() and bool(pid.read_text().strip()))
    client.kill()
    client.wait()
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert len(os.listdir(machine.home / "spool")) == 1

    (machine.home / "go").touch()
    machine.run("--config", "client.toml", "run")

    assert os.listdir(machine.home / "spool") == []


@pytest.mark.costly
def test_a_dump_that_the_server_does_not_take_stays_in_the_spool_and_is_said(machine):
    for name, status in (("nope.sql", 40), (machine.collection, 40)):
        machine.home.joinpath("client.toml").write_text(f"""
            [job.shop]
            collection = "{name}"
            command = ["date", "+%N"]
            spool = "{machine.home}/spool"
        """)
        done = machine.run("--config", "client.toml", "run", check=status)
        assert "could not be sent and stays there" in done.stderr.decode()

    assert [version["number"] for version in machine.versions()] == [1]
    assert len(os.listdir(machine.home / "spool")) == 2


@pytest.mark.costly
def test_the_spool_is_listed_and_a_dump_in_it_deleted(machine):
    machine.home.joinpath("client.toml").write_text("""
        [defaults]
        spool = "spool"
        [job.shop]
        collection = "nope.sql"
        command = ["echo", "INSERT"]
    """)
    machine.run("--config", "client.toml", "run", check=40)
    listed = machine.run("--config", "client.toml", "spool").stdout.decode()
    name = listed.partition(":")[0]
    wrong = machine.run("--config", "client.toml", "spool", "--delete", "another", check=2).stderr
    machine.run("--config", "client.toml", "spool", "--delete", name)

    assert listed == f"{name}: 7 bytes for nope.sql\n"
    assert b"no dump 'another' waits" in wrong
    assert b"no dump waits" in machine.run("--config", "client.toml", "spool").stderr
    assert [] == [*(machine.home / "spool").iterdir()]
