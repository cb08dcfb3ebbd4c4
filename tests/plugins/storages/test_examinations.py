"""What `frepo doctor` says about the storages local and ftp."""

import pytest

from frepo_core.plugins.registry import PluginRegistry
from frepo_core.testing import make_context
from frepo_storage_ftp.backend import FtpStorage
from frepo_storage_ftp.settings import FtpSettings
from frepo_storage_local.examination import examine, find_kind

MOUNTS = [
    r"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    r"30 22 0:25 / /srv rw,nosuid shared:2 - tmpfs tmpfs rw",
    r"31 30 8:2 / /srv/my\040disk rw - xfs /dev/sdb1 rw",
]


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "blobs"
    folder.mkdir(mode=0o750)
    return folder


def mounted(tmp_path, kind):
    """Return a file as proc(5) describes it, with a mount point for the folder of this test."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"{MOUNTS[0]}\n40 22 0:9 / {tmp_path} rw - {kind} none rw\n")
    return mounts


def test_the_kind_of_a_file_system_is_that_of_the_innermost_mount():
    paths = {"/var/blobs": "ext4", "/srv/blobs": "tmpfs", "/srv/my disk/blobs": "xfs", "/srv-other": "ext4"}

    assert paths == {path: find_kind(path, MOUNTS) for path in paths}


def test_a_private_folder_on_a_disk_is_good(root, tmp_path):
    assert [] == list(examine(root, mounted(tmp_path, "ext4")))


@pytest.mark.parametrize(("kind", "message"), [("tmpfs", "is in memory"), ("overlay", "in the layer of a container")])
def test_blobs_that_do_not_survive_a_restart_are_a_problem(root, tmp_path, kind, message):
    [finding] = examine(root, mounted(tmp_path, kind))

    assert ("problem", True) == (finding.level, message in finding.message)


def test_a_folder_that_others_can_write_is_a_warning(root, tmp_path):
    root.chmod(0o777)

    [finding] = examine(root, mounted(tmp_path, "ext4"))

    assert ("warning", f"Run `chmod o-w {root}`") == (finding.level, finding.remedy)


def test_a_folder_that_does_not_exist_yet_is_not_examined(tmp_path):
    assert [] == list(examine(tmp_path / "none", mounted(tmp_path, "tmpfs")))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "cross the network to ftp.example.org in the clear"),
        ({"ssl": True, "ssl_verify": False}, "The certificate of ftp.example.org is not verified"),
        ({"ssl": True}, ""),
    ],
)
def test_an_ftp_connection_that_is_not_protected_is_a_warning(settings, message):
    check = PluginRegistry.from_entry_points().doctor_checks["ftp"].spec
    storage = FtpStorage(FtpSettings(host="ftp.example.org", username="u", password="p", **settings))

    found = list(check.run(storage, make_context()))

    assert [message] * bool(message) == [message for one in found if message in one.message]
    assert len(found) == bool(message)
