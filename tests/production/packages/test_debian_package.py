"""The Debian package in a Debian made from nothing: installed, used, upgraded, removed and purged."""

import contextlib
import json
import re
import shutil
import subprocess
import time
import urllib.request

import pytest

from support.logs import log_recorder
from support.scale import only_in_long_form
from support.servers.processes import free_port, is_answered
from support.wire import eventually

pytestmark = only_in_long_form
# A change of the user makes the kernel forget that the process ends with its parent, so setpriv asks again.
SERVE = """set -a; . /etc/frepo/environment; HTTP_LISTEN=127.0.0.1:{port}; set +a; cd /var/lib/frepo
exec setpriv --reuid=frepo --regid=frepo --init-groups --pdeathsig=keep {command}"""


class Machine:
    """A folder with a Debian; it shares the network with this machine, and nothing else."""

    def __init__(self, folder):
        self.folder = folder

    def command(self, *words):
        """Return a command that runs the words inside, and ends with all that it started when it is killed."""
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.folder}/proc"]
        return [*alone, "chroot", str(self.folder), "env", "DEBIAN_FRONTEND=noninteractive", *words]

    def run(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def install(self, package):
        shutil.copy(package, self.folder / "root/frepo.deb")
        return self.run("apt-get", "install", "-q", "-y", "--no-install-recommends", "/root/frepo.deb")

    @contextlib.contextmanager
    def serving(self):
        """Run what the unit starts; yield the address."""
        unit = (self.folder / "lib/systemd/system/frepo@.service").read_text()
        start = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1]
        port = free_port()
        log = self.folder.with_name("service.log")
        with log.open("w") as output:
            script = SERVE.format(port=port, command=start)
            process = subprocess.Popen(self.command("sh", "-c", script), stdout=output, stderr=output)
        try:
            _wait_for(f"http://127.0.0.1:{port}/", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait(20)
            log_recorder.record_output(log.read_text())
        assert eventually(False, lambda: is_answered(f"http://127.0.0.1:{port}/")) is False


def _wait_for(url, process, log):
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url).close()
            return
        time.sleep(0.2)
    raise AssertionError(log.read_text())


def send(url, token, method="GET", body=None):
    request = urllib.request.Request(url, method=method, data=body, headers={"X-Auth-Token": token})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


@pytest.fixture(scope="module")
def package(released):
    return next(released.glob("frepo_*.deb"))


@pytest.fixture(scope="module")
def previous(package, tmp_path_factory):
    """The same package with an older version and another configuration file."""
    folder = tmp_path_factory.mktemp("previous")
    subprocess.run(["dpkg-deb", "-R", package, folder / "root"], check=True)
    control = folder / "root/DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", "Version: 0.0.9-1", control.read_text()))
    ini = folder / "root/etc/frepo/production.ini"
    ini.write_text(f"# of the version before\n{ini.read_text()}")
    path = folder / "frepo_0.0.9-1.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder / "root", path], check=True)
    return path


@pytest.fixture
def machine(debian_base, tmp_path):
    subprocess.run(["cp", "-a", debian_base, tmp_path / "machine"], check=True)
    yield Machine(tmp_path / "machine")
    shutil.rmtree(tmp_path / "machine")


def test_lintian_finds_no_error(package):
    if not shutil.which("lintian"):
        pytest.skip("lintian is not installed: make release-services")

    done = subprocess.run(["lintian", "--fail-on", "error", package], capture_output=True, text=True, check=False)

    assert (done.returncode, re.findall(r"(?m)^E: .*$", done.stdout)) == (0, [])


def test_from_nothing_to_the_first_file_and_to_the_next_version(machine, package, previous):
    said = machine.install(previous)
    assert "Keep a copy of /etc/frepo/environment in a safe" in said
    assert "systemctl enable --now frepo@6543" in said
    assert "schema" not in said
    environment = machine.folder / "etc/frepo/environment"
    assert environment.stat().st_mode & 0o777 == 0o600
    secrets = environment.read_text()
    token = machine.run("frepo", "auth:generate-admin-token").strip()
    with machine.serving() as url:
        sent = json.loads(send(f"{url}/repository/file/upload?fileName=first.txt", token, "POST", b"kept"))
        assert b"<title>" in send(f"{url}/ui/", token)
        assert send(f"{url}/client/frepo-client.pyz", token).startswith(b"#!/usr/bin/env python3")
    path = sent["url"].partition("//")[2].partition("/")[2]

    machine.install(package)

    assert environment.read_text() == secrets
    assert "# of the version before" not in (machine.folder / "etc/frepo/production.ini").read_text()
    with machine.serving() as url:
        assert send(f"{url}/{path}", token) == b"kept"

    machine.run("apt-get", "remove", "-q", "-y", "frepo")
    assert not (machine.folder / "usr/lib/frepo").exists()
    assert environment.read_text() == secrets
    machine.install(package)
    with machine.serving() as url:
        assert send(f"{url}/{path}", token) == b"kept"

    said = machine.run("apt-get", "purge", "-q", "-y", "frepo")
    assert "rm -r /var/lib/frepo /etc/frepo" in said
    assert [environment] == [*(machine.folder / "etc/frepo").iterdir()]
    assert environment.read_text() == secrets
    machine.install(package)
    with machine.serving() as url:
        assert send(f"{url}/{path}", token) == b"kept"


def test_an_upgrade_keeps_a_configuration_that_was_edited(machine, package, previous):
    machine.install(previous)
    ini = machine.folder / "etc/frepo/production.ini"
    edited = ini.read_text().replace("threads = 16", "threads = 8")
    ini.write_text(edited)

    shutil.copy(package, machine.folder / "root/frepo.deb")
    machine.run("dpkg", "--force-confold", "--install", "/root/frepo.deb")

    assert ini.read_text() == edited
    assert ini.with_name("production.ini.dpkg-dist").exists()


def test_processes_are_restarted_one_after_the_other(machine, package):
    machine.install(package)
    calls = machine.folder / "root/calls"
    stand_in = machine.folder / "usr/local/bin/systemctl"
    stand_in.write_text(
        '#!/bin/sh\ncase "$1" in list-units) echo "frepo@1.service loaded"; echo "frepo@2.service loaded";;\n'
        '*) echo "$@" >> /root/calls;; esac\n'
    )
    stand_in.chmod(0o755)

    script = (machine.folder / "usr/lib/frepo/restart").read_text().replace("range(60)", "range(1)")
    (machine.folder / "root/restart").write_text(script)
    done = subprocess.run(machine.command("sh", "/root/restart"), capture_output=True, text=True, check=False)

    # The first does not answer here, so the second runs on.
    assert (done.returncode, calls.read_text()) == (1, "restart frepo@1.service\n")
    assert "frepo@1 does not answer" in done.stderr
