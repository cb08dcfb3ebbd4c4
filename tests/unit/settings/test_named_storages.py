"""Further storages: their names, their settings in both places, and what is refused."""

import logging

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError

ARCHIVE = {"storages": "archive", "storage.archive.adapter": "local"}


@pytest.fixture
def start(ini, plugins, services, tmp_path):
    """Assemble another service with further settings; return it."""

    def start(settings=None, **environment):
        more = {"storage.archive.directory": str(tmp_path / "archive")} | ARCHIVE | (settings or {})
        chosen = {name: value for name, value in more.items() if value is not None}
        return assemble(ini | chosen, environment, plugins, services.database.engine)

    return start


@pytest.fixture
def refusal(start):
    def refusal(settings=None, **environment):
        with pytest.raises(ConfigurationError) as caught:
            start(settings, **environment)
        return caught.value.message

    return refusal


def directories(services):
    return {name: getattr(model, "directory", None) for name, model in services.backends.in_use.items()}


def test_two_storages_of_one_adapter_have_settings_of_their_own(start, ini, tmp_path):
    found = start({"storages": "archive, spare", "storage.spare.adapter": "local", "storage.spare.directory": "/srv"})

    assert ("local", "archive", "spare") == found.backends.configured
    assert {"local": ini["fs.local.directory"], "archive": f"{tmp_path}/archive", "spare": "/srv"} == {
        name: str(directory) for name, directory in directories(found).items()
    }


def test_the_environment_beats_the_ini(start):
    found = start(
        {"storages": None, "storage.archive.adapter": None, "storage.archive.directory": "/srv/ini"},
        STORAGES="archive",
        STORAGE_ARCHIVE_ADAPTER="local",
        STORAGE_ARCHIVE_DIRECTORY="/srv/environment",
    )

    assert "/srv/environment" == str(directories(found)["archive"])


def test_the_first_storage_may_be_a_named_one(start, tmp_path):
    found = start({"fs.adapter": "archive"})

    assert ("archive", ("archive",)) == (found.backends.current, found.backends.configured)
    assert tmp_path / "archive" == found.backends.current_settings.directory


def test_a_name_that_is_not_valid_or_taken_is_refused(refusal):
    for name in ("Archive", "the_archive", "2nd", "off-site", "local", "awss3v3", "archive archive", "a" * 65):
        message = refusal({"storages": name})

        assert message.startswith(f"Setting storages (STORAGES): {name.split()[0]!r} cannot be the name"), name


def test_a_wrong_setting_of_a_named_storage_stops_the_start(refusal):
    for settings, environment, said in [
        ({"storage.archive.directroy": "/srv"}, {}, "'storage.archive.directroy' (STORAGE_ARCHIVE_DIRECTROY)"),
        ({}, {"STORAGE_ARCHIVE_DIRECTROY": "/srv"}, "'storage.archive.directroy' (STORAGE_ARCHIVE_DIRECTROY)"),
        ({"storage.archive.directory": None}, {}, "storage.archive.directory (STORAGE_ARCHIVE_DIRECTORY): is required"),
        ({"storage.archive.adapter": None}, {}, "storage.archive.adapter (STORAGE_ARCHIVE_ADAPTER): is required"),
        ({"storage.archive.adapter": "locla"}, {}, "storage.archive.adapter: No installed package provides the"),
        ({"storage.offsite.adapter": "local"}, {}, "'storage.offsite.adapter' (STORAGE_OFFSITE_ADAPTER): storages"),
        ({"storage.archive": "local"}, {}, "Unknown setting 'storage.archive'"),
        ({"storages": "archive offsite"}, {}, "storage.offsite.adapter (STORAGE_OFFSITE_ADAPTER): is required"),
    ]:
        assert said in refusal(settings, **environment)


def test_a_misspelt_variable_is_named(start, caplog):
    with caplog.at_level(logging.WARNING):
        start(STORAGE_ARCHVE_DIRECTORY="/srv")

    assert "STORAGE_ARCHVE_DIRECTORY is not a setting of frepo. Did you mean STORAGE_ARCHIVE_DIRECTORY?" in caplog.text


def test_a_named_storage_that_cannot_be_built_does_not_stop_the_start(start):
    found = start({"storage.archive.lazy_root": "no"})

    with pytest.raises(Exception, match=r"storage\.archive\.directory \(STORAGE_ARCHIVE_DIRECTORY\): .*is not a dir"):
        found.backends.get("archive")


def test_the_settings_of_the_first_storage_are_as_before(start, ini):
    found = start({"storages": None, "storage.archive.adapter": None, "storage.archive.directory": None})

    assert ("local", ("local",)) == (found.backends.current, found.backends.configured)
    assert ini["fs.local.directory"] == str(found.backends.current_settings.directory)
