"""Who can read the database: doctor names all users, and those of a group, such as the proxy's."""

import shutil
import tempfile
from pathlib import Path

import pytest

from frepo_core.features.doctor.permissions import SettingFiles, check_permissions


@pytest.fixture
def open_folder():
    """A folder that every user can reach, as /var/lib may be."""
    folder = Path(tempfile.mkdtemp(dir="/var/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_database_that_others_can_read_is_named(services, open_folder):
    files = SettingFiles(ini=Path("frepo.ini"), settings={})
    engine = services.database.engine
    database = Path(engine.url.database)
    seen = open_folder / "frepo.db"
    seen.touch()
    services.database.engine.url = engine.url.set(database=str(seen))
    for mode, folder, is_named in (
        (0o600, 0o755, False),
        (0o640, 0o755, True),
        (0o604, 0o755, True),
        (0o640, 0o700, False),
    ):
        seen.chmod(mode)
        open_folder.chmod(folder)
        texts = [finding.message for finding in check_permissions(services, files)]
        assert is_named == any(f"The database {seen} can be read" in text for text in texts), oct(mode)
    services.database.engine.url = engine.url.set(database=str(database))
