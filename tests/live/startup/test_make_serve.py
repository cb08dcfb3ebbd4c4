"""`make serve`, with its state in a temporary folder and the tests' environment."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from support.logs import log_recorder
from support.scale import only_in_long_form
from support.servers.processes import free_port
from support.servers.service import ROOT, START_SECONDS

# The line that prints the token once, and the one with the link that signs in to the console.
ON_PURPOSE = re.compile(r"(?m)^(The administrator's token, kept in|The web console:) .*$")


@contextlib.contextmanager
def making_serve(folder):
    """Run `make serve` until it answers; return its address. All of it is stopped at the end by the pid of make."""
    running = []

    def start():
        address = f"127.0.0.1:{free_port()}"
        with (folder / "output").open("ab") as output:
            process = subprocess.Popen(
                command(address, folder / "state"),
                cwd=ROOT,
                env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
                | log_recorder.environment(),
                stdout=output,
                stderr=output,
            )
        running.append(process)
        wait_for(process, f"http://{address}/", folder / "output")
        return f"http://{address}"

    def stop():
        while running:
            process = running.pop()
            process.send_signal(signal.SIGTERM)
            process.wait(20)
        log_recorder.record_output(ON_PURPOSE.sub("", (folder / "output").read_text()))

    start.stop = stop
    try:
        yield start
    finally:
        stop()


@pytest.fixture
def make_serve(tmp_path):
    with making_serve(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """A folder, and a function that runs `make serve` in it."""
    folder = tmp_path_factory.mktemp("first")
    with making_serve(folder) as start:
        yield folder, start


@pytest.fixture(scope="module")
def first(starts):
    """The folder and the address of a first start, shared by several tests because it takes seconds."""
    folder, start = starts
    return folder, start()


def command(address, state):
    # -o prevents make from making the existing environment again.
    return [
        "make",
        "serve",
        "-o",
        f"{sys.prefix}/installed",
        f"VENV={sys.prefix}",
        f"HTTP_LISTEN={address}",
        f"STATE={state}",
    ]


def wait_for(process, url, output):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(output.read_text()) from None
            time.sleep(0.1)


def version_seen_with(token, url):
    request = urllib.request.Request(f"{url}/version", headers={"X-Auth-Token": token})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.status


def printed_with(token, output):
    return [line for line in output.read_text().splitlines() if token in line]


def test_the_first_start_prints_and_keeps_a_token_that_works(first):
    folder, url = first

    kept = folder / "state/admin-token"
    assert kept.read_text().strip() in (folder / "output").read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert version_seen_with(kept.read_text().strip(), url) == 200


def test_a_start_prints_no_warning(first):
    folder, _ = first

    assert "Warning" not in (folder / "output").read_text()


@only_in_long_form
def test_an_interrupted_start_does_not_block_the_next(make_serve, tmp_path):
    """The first start stopped before the token was in its file; a still earlier one, while it wrote the token."""
    (tmp_path / "state").mkdir()
    for name in ("admin-token", "admin-token.new"):
        (tmp_path / "state" / name).write_text("")

    url = make_serve()

    assert version_seen_with((tmp_path / "state/admin-token").read_text().strip(), url) == 200


def test_the_state_is_all_in_one_folder(first):
    folder, url = first
    token = (folder / "state/admin-token").read_text().strip()
    upload = urllib.request.Request(f"{url}/repository/file/upload?fileName=a", b"hello", {"X-Auth-Token": token})
    urllib.request.urlopen(upload, timeout=30).close()

    names = {path.name for path in (folder / "state").iterdir()}
    assert {"admin-token", "frepo.db", "secrets.json", "storage", "temporary"} <= names


def test_other_users_cannot_read_the_state(first):
    folder, _ = first

    state = folder / "state"
    # fs.local.file_permissions is 0640: the group can read the storage.
    forbidden = {path: 0o007 if "storage" in path.parts else 0o077 for path in state.rglob("*")}
    open_to_others = [path.name for path, mode in forbidden.items() if path.stat().st_mode & mode]
    assert ([], 0o700) == (open_to_others, state.stat().st_mode & 0o777)


@pytest.mark.costly
def test_the_console_can_use_a_moved_state_from_every_folder(first, tmp_path):
    folder, url = first
    program = f". {folder}/state/environment && {sys.prefix}/bin/frepo auth:create-token --roles upload.all"
    recorded = os.environ | log_recorder.environment()
    done = subprocess.run(
        ["sh", "-c", program], cwd=tmp_path, env=recorded, capture_output=True, text=True, check=False
    )
    log_recorder.record_output(done.stderr)

    assert ("", 0) == (done.stderr, done.returncode)
    assert version_seen_with(done.stdout.strip(), url) == 200


def test_a_relative_state_is_found_from_every_folder():
    """A dry run; a prerequisite of `serve` prints the variables that the service and `environment` get."""
    printing = ["--eval", "serve: variables", "--eval", "variables: ; +@env"]
    dry = ["make", "-n", *printing, *command("127.0.0.1:1", "build/state")[1:]]
    done = subprocess.run(dry, cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True)

    assert f"DATABASE_URL=sqlite:///{ROOT}/build/state/frepo.db" in done.stdout.splitlines()


@pytest.mark.costly
def test_a_later_start_keeps_the_token_and_prints_it_in_the_link_only(first, starts):
    """The last test that uses `first`: it stops that service."""
    folder, start = starts
    start.stop()
    token = (folder / "state/admin-token").read_text()
    (folder / "output").unlink()

    url = start()

    assert (folder / "state/admin-token").read_text() == token
    assert [f"The web console: {url}/ui/#token={token.strip()}"] == printed_with(token.strip(), folder / "output")
    assert version_seen_with(token.strip(), url) == 200


@pytest.mark.costly
def test_a_lost_token_is_said_with_the_line_that_revokes_it(tmp_path, make_serve):
    make_serve()
    make_serve.stop()
    lost = (tmp_path / "state/admin-token").read_text().strip()
    assert "is lost, so" not in (tmp_path / "output").read_text()
    (tmp_path / "state/admin-token").unlink()

    url = make_serve()

    [line] = [one for one in (tmp_path / "output").read_text().splitlines() if "is lost, so" in one]
    old = re.search("`frepo auth:revoke ([0-9a-f]{12})`", line)[1]
    assert 200 == version_seen_with(lost, url)
    variables = f"set -a; . '{tmp_path}/state/environment'; exec {sys.prefix}/bin/frepo auth:revoke {old}"
    subprocess.run(["sh", "-c", variables], check=True, cwd=tmp_path, capture_output=True)
    with pytest.raises(urllib.error.HTTPError, match="40[13]"):
        version_seen_with(lost, url)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("environment", "says"),
    [
        (
            {"HTTP_LISTEN": "127.0.0.1"},
            "Take another address: `make serve HTTP_LISTEN=127.0.0.1:7000`, or `frepo",
        ),
        ({"FS_ADAPTER": "barrel"}, "fs.adapter (FS_ADAPTER) is 'barrel'"),
        ({"BACKUP_MAX_VERSIONS": "-1"}, "BACKUP_MAX_VERSIONS"),
        (
            {"LINE": "threads = eight"},
            "frepo cannot start: threads = eight is not a whole number. It is set in [server:",
        ),
        ({"LINE": "threads = 0"}, "threads = 0 serves no request"),
        (
            {"LINE": "conection_limit = 9"},
            "conection_limit is no setting of the server (did you mean connection_limit?). It is set in [server:main]",
        ),
        ({"LINE": "head_timeout = -1"}, "head_timeout = -1 is not a positive number"),
    ],
)
def test_a_failed_start_prints_only_what_to_change(tmp_path, environment, says):
    """LINE replaces the line of [server:main] about threads."""
    environment = dict(environment)
    line = environment.pop("LINE", "threads = 8")
    ini = (ROOT / "development.ini").read_text().replace("threads = 8", line).replace("%(here)s", str(ROOT))
    (tmp_path / "frepo.ini").write_text(ini)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        if "HTTP_LISTEN" in environment:
            environment = {"HTTP_LISTEN": f"127.0.0.1:{taken.getsockname()[1]}"}
        state = {"DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db", "APP_SECRETS_FILE": f"{tmp_path}/secrets.json"}
        state |= {"PATH": os.environ["PATH"], "FS_LOCAL_DIRECTORY": f"{tmp_path}/storage"}
        done = subprocess.run(
            [f"{sys.prefix}/bin/pserve", tmp_path / "frepo.ini"],
            env=log_recorder.environment() | state | environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    log_recorder.record_output(done.stderr)
    assert (done.returncode, says in done.stderr, "Traceback" in done.stderr) == (1, True, False)
