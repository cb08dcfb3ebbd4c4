"""The folder for temporary files: one that cannot be used, or is full, is named with the advice for it."""

import errno
import os
import tempfile

import pytest

from frepo_core.errors import ConfigurationError, StorageFull
from frepo_core.services.content.ingest import Ingest, disk_full_translated


def test_without_a_folder_that_can_be_written_the_setting_is_named(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/none"])

    with pytest.raises(ConfigurationError, match=r"No folder for temporary files .* temp_directory \(TEMP_DIRECTORY\)"):
        Ingest(None)


def test_a_full_disk_for_temporary_files_has_the_advice_for_that_disk():
    with pytest.raises(StorageFull) as caught, disk_full_translated():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    assert "The disk for temporary files has no room left" == str(caught.value)
    assert "name a folder on a larger disk there" in caught.value.explanation
