"""The folder for parts: where it may be, and whose it is."""

import os

import pytest

from frepo_core.plugins import ConfigurationError
from frepo_uploads.disk import place
from frepo_uploads.disk.place import Place, file_system, host_tag, tag_of


def test_a_folder_keeps_its_id_and_another_has_its_own(tmp_path):
    first, again = Place(tmp_path / "a", tag=""), Place(tmp_path / "a", tag="other")

    assert first.id == again.id
    assert first.id != Place(tmp_path / "b", tag="").id


@pytest.fixture
def in_memory(monkeypatch):
    monkeypatch.setattr(place, "file_system", lambda folder: "tmpfs")


def test_a_folder_that_a_restart_empties_is_refused(tmp_path, in_memory):
    with pytest.raises(ConfigurationError, match=r"uploads\.directory .*tmpfs"):
        Place(tmp_path / "a", tag="").folder  # noqa: B018


def test_a_folder_next_to_a_storage_that_a_restart_empties_is_not(tmp_path, in_memory):
    """Its folder does not exist before the first file."""
    assert tmp_path / "a" == Place(tmp_path / "a", tag="", storage=tmp_path / "storage").folder


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError, match=r"UPLOADS_DIRECTORY.*file/a"):
        Place(tmp_path / "file" / "a", tag="").folder  # noqa: B018


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no /dev/shm")
def test_the_file_system_of_a_folder_is_found():
    assert "tmpfs" == file_system("/dev/shm")
    assert "proc" == file_system("/proc/self")


def test_an_id_begins_with_the_tag_of_its_host(tmp_path):
    assert "backup1" == tag_of(Place(tmp_path, tag="backup1").new_id())
    assert {"db7": "DB-7.example.org", "host": "-"}.items() == {
        host_tag(name): name for name in ("DB-7.example.org", "-")
    }.items()
