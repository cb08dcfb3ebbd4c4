"""Environments built from wheels, a service that runs in one of them, and an SFTP server."""

import shutil
from pathlib import Path

import pytest

from sshd import NOT_INSTALLED, SSHD, running_sshd
from support.installation.environments import EXAMPLES, make_environment
from support.servers.service import ROOT, Service


@pytest.fixture(scope="session")
def installed(wheels, tmp_path_factory):
    """`pip install frepo[kit]`, then the two examples."""
    environment = make_environment(tmp_path_factory.mktemp("installed") / "venv", wheels, "frepo[kit]")
    environment.install(*(example.name for example in EXAMPLES))
    return environment


@pytest.fixture(scope="session")
def core_alone(wheels, tmp_path_factory):
    """`pip install frepo-core frepo-strategies`: without any storage."""
    return make_environment(tmp_path_factory.mktemp("core") / "venv", wheels, "frepo-core", "frepo-strategies")


@pytest.fixture(scope="session")
def without_storage(wheels, tmp_path_factory):
    """`pip install frepo-server frepo-strategies`: a service that has no storage."""
    return make_environment(tmp_path_factory.mktemp("server") / "venv", wheels, "frepo-server", "frepo-strategies")


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    if SSHD is None:
        pytest.skip(NOT_INSTALLED)
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def ini_file(tmp_path):
    """A copy of the settings of a new user."""
    return Path(shutil.copy(ROOT / "development.ini", tmp_path))


@pytest.fixture
def start_from(ini_file, tmp_path):
    """Start a real service in an environment; keyword arguments are environment variables."""
    running = []

    def start(environment, **variables):
        (tmp_path / "service").mkdir()
        running.append(Service(tmp_path / "service", variables, ini=ini_file, programs=environment.bin))
        running[-1].start()
        return running[-1]

    yield start
    for service in running:
        service.stop()
