"""Two storages of the settings in one place: the second one is refused, a copy can be adopted."""

import shutil

import pytest

from frepo_core.errors import ConfigurationError, StorageUnavailable
from frepo_core.services.content.storages.storage_troubles import read_troubles
from frepo_core.services.content.storages.storage_watch import StorageWatch
from frepo_core.services.content.storages.sweep_guard import Ownership
from frepo_core.services.upkeep.storage import find_marks

ONE_PLACE = "The storages 'archive' and 'local' are one place"


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings


@pytest.fixture
def watch(services):
    """Look once after each storage, as the threads of a service do."""

    def watch():
        for name in services.backends.configured:
            StorageWatch(
                services.database, services.backends, services.presence, services.storage_states, storage=name
            ).look()

    return watch


@pytest.fixture
def marks(services):
    return lambda name: len(find_marks(services.backends.get(name)))


@pytest.fixture
def troubles(services):
    def read():
        with services.database.reading() as session:
            return set(read_troubles(session))

    return read


def test_each_configured_storage_is_marked(watch, marks, troubles):
    watch()

    assert (1, 1, set()) == (marks("local"), marks("archive"), troubles())


def test_a_second_name_of_a_storage_is_refused(services, watch, tmp_path, marks, troubles, upload):
    (tmp_path / "storage").mkdir()
    (tmp_path / "archive").symlink_to(tmp_path / "storage")
    watch()

    with pytest.raises(StorageUnavailable, match=ONE_PLACE):
        services.presence.require("archive")
    with pytest.raises(ConfigurationError, match="what is stored in one is in the other"):
        Ownership(services.database, services.backends).adopt("archive")
    assert (1, {"archive"}) == (marks("local"), troubles())
    upload(b"the first one works")


def test_a_storage_that_becomes_a_second_name_is_refused(services, watch, tmp_path):
    watch()
    for path in (tmp_path / "archive").iterdir():
        shutil.copytree(path, tmp_path / "storage" / path.name, dirs_exist_ok=True)
    shutil.rmtree(tmp_path / "archive")
    (tmp_path / "archive").symlink_to(tmp_path / "storage")

    with pytest.raises(StorageUnavailable, match=ONE_PLACE):
        services.presence.look("archive")


def test_a_copy_of_a_storage_can_be_adopted(services, watch, tmp_path, upload, marks):
    upload(b"a content")
    watch()
    shutil.rmtree(tmp_path / "archive")
    shutil.copytree(tmp_path / "storage", tmp_path / "archive")
    with pytest.raises(StorageUnavailable):
        services.presence.look("archive")

    Ownership(services.database, services.backends).adopt("archive")

    services.presence.look("archive")
    assert (1, 1) == (marks("local"), marks("archive"))
