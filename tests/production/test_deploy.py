"""The files in deploy/ match each other, the settings and the code."""

import configparser
import re
import shutil
import subprocess

import pytest
from release.debian import HOME, units

from frepo_core.settings import load_settings
from support.servers import nginx as nginx_server
from support.servers.service import ROOT

UNIT = (ROOT / "deploy/frepo@.service").read_text()
CONTAINERFILE = (ROOT / "deploy/Containerfile").read_text()
SECRETS = {"APP_SECRET": "a", "ENC_TOKEN_PHRASE": "b", "DATABASE_URL": "sqlite:///x.db"}


@pytest.fixture(scope="module")
def settings():
    ini = configparser.ConfigParser(interpolation=None)
    ini.read(ROOT / "production.ini")
    own = {name: value for name, value in ini["app:main"].items() if name not in {"use", *ini.defaults()}}
    return load_settings(own, SECRETS)


def test_nginx_takes_its_configuration_without_a_warning(tmp_path):
    if nginx_server.MISSING:
        pytest.skip(nginx_server.MISSING)

    with nginx_server.nginx(["127.0.0.1:9"], storage=tmp_path) as front:
        log = (front.folder / "error.log").read_text()

    assert log == ""


def test_nginx_and_the_service_may_talk(settings):
    assert [str(network) for network in settings.trusted_proxies] == ["127.0.0.1/32"]
    assert re.findall(r"server (127\.0\.0\.1):\d+", nginx_server.SHIPPED.read_text()) == ["127.0.0.1"] * 2


def test_the_stop_timeout_exceeds_the_draining_time(settings):
    seconds = int(re.search(r"TimeoutStopSec=(\d+)", UNIT)[1])

    assert settings.long_execution_time < seconds < settings.long_execution_time + 120


def test_the_service_writes_only_to_folders_that_the_unit_allows(settings):
    assert "StateDirectory=frepo\n" in UNIT
    assert settings.temp_directory.is_relative_to("/var/lib/frepo")
    assert "directory = /var/lib/frepo/storage" in (ROOT / "production.ini").read_text()


@pytest.mark.parametrize("name", ["frepo@.service", "frepo-restore@.service", "frepo-restore.socket"])
def test_systemd_knows_every_option_of_the_unit(tmp_path, name):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not there to check the unit")
    # The unit's program is not installed on this machine, which is not an error of the unit.
    for unit in (ROOT / "deploy").glob("frepo*.s[eo]*"):
        text = re.sub("/opt/frepo/bin/[a-z3]+", shutil.which("true"), unit.read_text())
        (tmp_path / unit.name).write_text(text)
        (tmp_path / unit.name.replace("@.", "@6543.")).write_text(text)
    unit = name.replace("@.", "@6543.")

    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / unit)], capture_output=True, text=True, check=False
    )

    assert unit not in done.stderr


def test_the_unit_of_restore_tests_has_the_restrictions_of_the_service_and_more():
    restore = (ROOT / "deploy/frepo-restore@.service").read_text()
    own = set(re.findall(r"^((?:Protect|Private|Restrict|No|Lock|Capability)\w+=.*)$", UNIT, re.MULTILINE))

    # PrivateTmp is a part of DynamicUser, and nothing has an address.
    assert {"PrivateTmp=yes", "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX"} == own - set(restore.splitlines())
    assert {"DynamicUser=yes", "PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX"} <= set(restore.splitlines())
    for limit in ("MemoryMax", "TasksMax", "RuntimeMaxSec", "LimitFSIZE"):
        assert re.search(f"^{limit}=\\d", restore, re.MULTILINE)


def test_the_box_of_restore_tests_is_as_closed_as_systemd_can_tell(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not there to check the unit")
    (tmp_path / "frepo-restore@1.service").write_text((ROOT / "deploy/frepo-restore@.service").read_text())
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=10"]

    done = subprocess.run(
        [*command, str(tmp_path / "frepo-restore@1.service")], capture_output=True, text=True, check=False
    )

    # 0 is closed, 10 is open. What is left is a name for the user and the programs of the machine.
    exposure = re.search(r"exposure level for frepo-restore@1.service: (\d+\.\d)", done.stdout)
    assert float(exposure[1]) <= 0.5, done.stdout


def test_the_debian_package_has_the_units_with_its_own_paths():
    """Of the programs of an environment, the package has `frepo` and `python3`."""
    for name, text in units(ROOT).items():
        assert (ROOT / "deploy" / name).exists()
        assert "/opt/" not in text.replace(" /opt:ro", "")
        assert "/etc/systemd/system" not in text
        if starts := re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE):
            assert {f"/{HOME}/bin/frepo", f"/{HOME}/bin/python3"} >= set(starts)
    assert {"frepo@.service", "frepo-restore@.service", "frepo-restore.socket"} == units(ROOT).keys()


def test_the_container_holds_every_distribution():
    distributions = sorted(path.parent.name for path in ROOT.glob("frepo_*/pyproject.toml"))

    assert sorted(re.findall(r"\./(frepo_\w+)", CONTAINERFILE)) == distributions
    assert sorted(re.findall(r"COPY (frepo_\w+) ", CONTAINERFILE)) == distributions


def test_the_container_runs_without_root():
    assert re.findall(r"(?m)^USER (.*)$", CONTAINERFILE) == ["frepo"]
