"""`frepo serve` starts the same service as pserve, and refuses what it cannot read with one line."""

import signal
import subprocess
import time

import pytest

from support.servers.service import BIN, START_SECONDS, Service


class ByCommand(Service):
    """A service that `frepo serve` starts, with other words than pserve has."""

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [BIN / "frepo", "--ini", self.ini, "serve", "--listen", self.address],
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.own_server
def test_it_serves_on_the_address_that_is_given_until_it_is_told_to_stop(tmp_path):
    """--listen wins over HTTP_LISTEN."""
    service = ByCommand(tmp_path, environment={"HTTP_LISTEN": "127.0.0.1:1"})
    service.start()
    pid = service.pid

    service.stop(signal.SIGTERM)

    assert f"Starting server in PID {pid}." in service.log.read_text()
    assert 0 == service.process.returncode


def test_an_unknown_setting_is_one_line(tmp_path):
    service = Service(tmp_path)
    service.ini = tmp_path / "frepo.ini"
    service.ini.write_text(
        "[app:main]\nuse = egg:frepo-core\napp.evn = test\n[server:main]\nuse = egg:frepo-server#waitress\n"
    )

    done = subprocess.run(
        [BIN / "frepo", "serve", service.ini],
        env=service.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "frepo cannot start. Unknown setting 'app.evn' (APP_EVN). Did you mean app.env?\n" == done.stderr
    assert 1 == done.returncode


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("threads = eight", "threads = eight is not a whole number."),
        ("treads = 8", "treads is no setting of the server (did you mean threads?)."),
    ],
)
def test_a_wrong_line_for_the_server_is_named_before_anything_starts(tmp_path, line, problem):
    service = Service(tmp_path)
    service.ini = tmp_path / "frepo.ini"
    service.ini.write_text(
        f"[app:main]\nuse = egg:frepo-core\n[server:main]\nuse = egg:frepo-server#waitress\n{line}\n"
    )
    before = sorted(tmp_path.rglob("*"))

    done = subprocess.run(
        [BIN / "frepo", "serve", service.ini],
        env=service.environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert f"frepo: The ini file '{service.ini}', line 5, section [server:main]: {problem}\n" == done.stderr
    assert (1, before) == (done.returncode, sorted(tmp_path.rglob("*")))
