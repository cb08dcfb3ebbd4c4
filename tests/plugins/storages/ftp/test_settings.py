"""The settings of the storage `ftp`, and its entry point."""

import pytest

from frepo_core.plugins import ConfigurationError
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import load_storage_settings
from frepo_storage_ftp import FtpSettings
from frepo_storage_ftp.backend import FtpStorage


def test_settings_come_from_the_environment():
    environment = {
        "FS_FTP_HOST": "ftp.example.org",
        "FS_FTP_USERNAME": "frepo",
        "FS_FTP_PASSWORD": "12345",
        "FS_FTP_SSL": "1",
        "FS_FTP_FILE_PERMISSIONS": "",
        "FS_FTP_DIRECTORY_PERMISSIONS": "0750",
    }

    settings = load_storage_settings(FtpSettings, "ftp", {}, environment)

    assert ("12345", True, None, 0o750) == (
        settings.password.get_secret_value(),
        settings.ssl,
        settings.file_permissions,
        settings.directory_permissions,
    )
    assert "12345" not in repr(settings)


@pytest.mark.parametrize("mode", ["rw-r-----", "0888", "10000", "-1"])
def test_a_mode_that_is_not_octal_is_refused(mode):
    environment = {"FS_FTP_HOST": "h", "FS_FTP_USERNAME": "u", "FS_FTP_PASSWORD": "p", "FS_FTP_FILE_PERMISSIONS": mode}

    with pytest.raises(ConfigurationError, match="octal digits, such as 0640"):
        load_storage_settings(FtpSettings, "ftp", {}, environment)


@pytest.mark.parametrize("name", ["host", "username", "password", "root"])
def test_a_setting_of_two_lines_is_refused(name):
    values = {"FS_FTP_HOST": "h", "FS_FTP_USERNAME": "u", "FS_FTP_PASSWORD": "p"}

    with pytest.raises(ConfigurationError, match="one line"):
        load_storage_settings(FtpSettings, "ftp", {}, values | {f"FS_FTP_{name.upper()}": "a\r\nDELE b"})


def test_the_backend_is_found_by_its_entry_point():
    settings = FtpSettings(host="127.0.0.1", username="frepo", password="secret")

    assert isinstance(PluginRegistry.from_entry_points().storage("ftp").build(settings), FtpStorage)
