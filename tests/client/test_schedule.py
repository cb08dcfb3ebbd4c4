"""`frepo-client schedule`: what starts the backups each night, checked by the programs that read it."""

import re
import shutil
import subprocess

import pytest

from support.paths import ROOT

CLIENTS = ROOT / ".venv-clients/bin/python"
VALIDATE = """
import sys, yaml, kubernetes_validate
kubernetes_validate.validate(yaml.safe_load(sys.stdin), "1.37", strict=True)
"""


@pytest.fixture
def printed(machine):
    """Return what `schedule --print KIND` prints on this host."""
    machine.home.joinpath("client.toml").write_text("""
        [defaults]
        spread = "90m"
        [job.shop]
        collection = "shop.sql"
        command = ["true"]
    """)

    def schedule(kind, *more):
        words = ["--config", "client.toml", "schedule", kind, "--print", *more]
        return machine.run(*words).stdout.decode()

    return schedule


@pytest.mark.costly
def test_systemd_accepts_the_units(printed, tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not there to check the units")
    service, timer = re.split(r"# /etc/systemd/system/frepo-client\.(?:service|timer)\n", printed("systemd"))[1:]
    paths = [tmp_path / "frepo-client.service", tmp_path / "frepo-client.timer"]
    # The program need not be executable on this machine.
    paths[0].write_text(re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", service))
    paths[1].write_text(timer)

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, paths)], capture_output=True, text=True, check=False
    )

    assert "frepo-client" not in done.stderr
    assert "OnCalendar=*-*-* 02:00:00\nRandomizedDelaySec=5400\n" in timer


@pytest.mark.costly
def test_cron_starts_at_the_minute_of_this_host(printed):
    line = printed("cron", "--at", "23:30").splitlines()[-1]

    minute, hour = map(int, line.split()[:2])
    assert 0 <= (hour * 60 + minute - (23 * 60 + 30)) % (24 * 60) <= 90
    assert line.split()[2:6] == ["*", "*", "*", "root"]
    assert printed("cron", "--at", "23:30").splitlines()[-1] == line


@pytest.mark.costly
@pytest.mark.skipif(not CLIENTS.exists(), reason="the schemas of Kubernetes are not installed: make services")
def test_kubernetes_accepts_the_job(printed):
    done = subprocess.run(
        [str(CLIENTS), "-c", VALIDATE], input=printed("kubernetes"), text=True, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_windows_gets_one_command(printed):
    command = r'schtasks /Create /TN "frepo-client" /SC DAILY /ST \d\d:\d\d .* /TR "py -3 .*"\n'

    assert re.fullmatch(command, printed("windows"))


def test_a_file_that_cannot_be_written_says_what_to_do(machine, printed):
    done = machine.run("--config", "client.toml", "schedule", "cron", "--at", "2am", check=2)

    assert "--at '2am' is not a time; write it as 02:00" in done.stderr.decode()
