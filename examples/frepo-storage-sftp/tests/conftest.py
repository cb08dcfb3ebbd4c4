"""A real SFTP server, one for the whole run, and storages on it."""

import itertools

import pytest

from frepo_storage_sftp.backend import SftpStorage
from frepo_storage_sftp.settings import SftpSettings
from sshd import NOT_INSTALLED, SSHD, running_sshd

COUNTER = itertools.count()


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    if SSHD is None:
        pytest.skip(NOT_INSTALLED)
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture
def settings(sshd):
    """Make settings with a folder that this test has alone; any of them may be replaced."""
    folder = sshd.blobs / f"test-{next(COUNTER)}"
    folder.mkdir()
    return lambda **replaced: SftpSettings(**(sshd.settings | {"directory": str(folder)} | replaced))


@pytest.fixture
def storage(settings):
    return SftpStorage(settings())
