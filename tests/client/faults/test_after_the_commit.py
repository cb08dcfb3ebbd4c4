"""What happens after the commit never changes the exit status: the version is stored."""

import contextlib
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.servers.disks import small_disk

STATES = ("read-only", "missing", "a file")


@contextlib.contextmanager
def state_folder(machine, kind):
    """Yield a folder for the client's state that cannot be written to."""
    folder = machine.home / "state"
    if kind == "read-only":
        with small_disk(folder, "1m"):
            folder.joinpath("frepo-client").mkdir()
            subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
            yield folder
    elif kind == "missing":
        yield "/proc/state"
    else:
        folder.write_text("")
        yield folder


@pytest.mark.parametrize("kind", STATES)
def test_a_folder_for_state_that_cannot_be_written_is_a_warning(machine, kind):
    machine.home.joinpath("dump").write_text("INSERT\n" * 1000)
    machine.home.joinpath("client.toml").write_text('[job.a]\ncollection = "shop.sql"\ncommand = ["echo", "INSERT"]\n')
    with state_folder(machine, kind) as folder:
        pushed = machine.run("push", "shop.sql", "dump", XDG_STATE_HOME=str(folder))
        # Both are smaller than the one before, and in quarantine.
        machine.run("pipe", "shop.sql", "--", "cat", "dump", ":::", "gzip", check=11, XDG_STATE_HOME=str(folder))
        machine.run("--config", "client.toml", "run", check=11, XDG_STATE_HOME=str(folder))

    assert 3 == len(machine.versions())
    assert b"no lock against a second run" in pushed.stderr
    assert b"after a break, this upload will begin again" in pushed.stderr
    assert b"set XDG_STATE_HOME to a folder of this user" in pushed.stderr


def test_output_that_cannot_be_written_fails_no_backup(machine):
    machine.home.joinpath("dump").write_text("INSERT\n" * 1000)
    machine.home.joinpath("client.toml").write_text('[job.a]\ncollection = "shop.sql"\ncommand = ["cat", "dump"]\n')
    commands = (
        ["push", "shop.sql", "dump"],
        ["pipe", "shop.sql", "--", "cat", "dump"],
        ["--config", "client.toml", "run"],
    )
    with open("/dev/full", "w") as full:
        for words in commands:
            assert 0 == machine.start(*words, stdout=full).wait(60)
            assert 0 == machine.start(*words, stdout=full, stderr=full).wait(60)
            reader = machine.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            reader.stdout.close()
            reader.stderr.close()
            assert 0 == reader.wait(60)

    assert 9 == len(machine.versions())


class _OldService(BaseHTTPRequestHandler):
    """A service without upload sessions: it stores a version in one request, and refuses the report of its run."""

    def do_POST(self):
        self._answer(404 if self.path.endswith("/uploads") else 422, b"{}")

    def do_PUT(self):
        self._answer(201, b'{"number": 1, "verdict": "complete", "size": 7}')

    def _answer(self, status, content):
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def old_service():
    with ThreadingHTTPServer(("127.0.0.1", 0), _OldService) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_run_that_cannot_be_reported_does_not_fail_the_version_that_is_stored(machine, old_service):
    words = ["--url", old_service, "pipe", machine.collection, "--content-encoding", "none", "--", "echo", "INSERT"]

    done = machine.run(*words)

    assert b"version 1 is stored" in done.stdout
    assert b"the run of a version that is stored could not be reported" in done.stderr


def test_a_temporary_folder_that_is_too_small_is_named(machine, old_service):
    words = ["--url", old_service, "pipe", machine.collection, "--content-encoding", "none", "--"]
    with small_disk(machine.home / "small", "1m") as small:
        full = machine.run(*words, "head", "-c", "9000000", "/dev/zero", check=20, TMPDIR=str(small))

    assert f"the dump does not fit into {small} (No space left on device)".encode() in full.stderr
    assert b"name a folder with room for the whole dump in the variable TMPDIR" in full.stderr
