"""Programs that understand a format: their limits, and what their answers mean."""

import io
import os
import shutil
import subprocess
import time

import pytest
from sqlalchemy import make_url

from frepo_integrity.outcomes import BrokenContent, NotCheckable
from frepo_integrity.settings import Command
from frepo_integrity.tool_command import Limits, run_command
from support.servers.processes import is_running
from support.wire import eventually

CONTENT = b"PGDMP" + bytes(100_000)


def run(*words, content=CONTENT, seconds=20, memory=1 << 30, output=1 << 20, **more):
    command = Command(by="magic", pattern="PGDMP", words=words)
    limits = Limits(seconds=seconds, memory=memory, output=output)
    return run_command(command, io.BytesIO(content), limits, **more)


def test_exit_code_0_is_good():
    report = run("sh", "-c", f'test "$(wc -c)" -eq {len(CONTENT)}')

    assert ("good", "sh accepts the content", ("command",)) == (report.outcome, report.message, report.kinds)


def test_a_program_that_reads_only_the_start_may_accept_the_content():
    assert "good" == run("sh", "-c", "head -c 5", content=CONTENT * 100).outcome


def test_another_exit_code_is_a_broken_content():
    with pytest.raises(BrokenContent, match=r"sh ends with exit code 3: no end\Z"):
        run("sh", "-c", "printf 'no\\n\\033\\n end' >&2; exit 3")


def test_a_program_that_does_not_exist_could_not_tell():
    with pytest.raises(NotCheckable, match=r"no-such-program cannot be started: .*not found"):
        run("no-such-program")


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path):
    started = time.monotonic()

    with pytest.raises(NotCheckable, match=r"sh took longer than 0\.5 seconds"):
        run("sh", "-c", f"sleep 321 & echo $! > {tmp_path}/pid; wait", seconds=0.5)

    assert time.monotonic() - started < 60
    assert not eventually(False, lambda: is_running(int((tmp_path / "pid").read_text())))


def test_a_program_that_needs_too_much_memory_could_not_tell():
    with pytest.raises(NotCheckable, match="more memory than integrity.command_memory allows"):
        run("python3", "-c", "x = bytearray(1 << 30)", memory=256 << 20)


def test_a_program_that_writes_too_much_is_killed():
    with pytest.raises(NotCheckable, match="yes wrote more than 65.5 kB"):
        run("yes", output=1 << 16)


def test_a_program_cannot_write_large_files():
    with pytest.raises(BrokenContent, match="exit code"):
        run("sh", "-c", "head -c 1000000 /dev/zero > file || exit 1", output=1 << 16)


def test_a_program_that_is_killed_could_not_tell():
    with pytest.raises(NotCheckable, match=r"ended by signal 9 \(Killed\)"):
        run("sh", "-c", "kill -9 $$")


def test_a_program_does_not_see_the_secrets_of_the_service(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://frepo:database-5ecre7@127.0.0.1/frepo")

    assert "good" == run("sh", "-c", 'test -z "$DATABASE_URL" && test -n "$PATH"').outcome


def test_the_caller_can_end_it():
    class LeaseLost(Exception):
        pass

    def tick():
        raise LeaseLost

    started = time.monotonic()
    with pytest.raises(LeaseLost):
        run("sleep", "100", tick=tick)
    assert time.monotonic() - started < 60


def test_a_content_that_cannot_be_read_is_not_broken():
    class Unreadable(io.BytesIO):
        def read(self, size=-1):
            raise OSError("the storage is down")

    command = Command(by="magic", pattern="PGDMP", words=("cat",))
    with pytest.raises(OSError, match="the storage is down"):
        run_command(command, Unreadable(), Limits(seconds=20, memory=1 << 30, output=1 << 20))


@pytest.fixture(scope="module")
def custom_dump(postgresql_server):
    if shutil.which("pg_dump") is None:
        pytest.skip("postgresql-client is not installed")
    url = make_url(postgresql_server.emptied())
    where = ["-h", url.host, "-p", str(url.port), "-U", url.username]
    command = ["pg_dump", "--format=custom", *where]
    return subprocess.run(
        command, env=os.environ | {"PGPASSWORD": url.password}, stdout=subprocess.PIPE, check=True
    ).stdout


def test_pg_restore_accepts_a_whole_dump(custom_dump):
    assert custom_dump.startswith(b"PGDMP")
    assert "good" == run("pg_restore", "--list", content=custom_dump).outcome
    assert "good" == run("pg_restore", "--file=/dev/null", content=custom_dump).outcome


@pytest.mark.costly
def test_pg_restore_finds_cuts(custom_dump):
    """`--list` reads the table of contents, which comes first. `--file=/dev/null` reads all."""
    for tenth in range(1, 10):
        with pytest.raises(BrokenContent, match="pg_restore ends with exit code 1"):
            run("pg_restore", "--file=/dev/null", content=custom_dump[: len(custom_dump) * tenth // 10])
    with pytest.raises(BrokenContent):
        run("pg_restore", "--list", content=custom_dump[: len(custom_dump) // 10])
