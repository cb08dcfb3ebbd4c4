"""A disk whose file system has no modes, such as vfat or CIFS: blobs are stored, and doctor says who decides."""

import errno
import io
import os
import tempfile

import pytest

from frepo_storage_local import LocalSettings, LocalStorage
from frepo_storage_local.examination import examine

CONTENT = b"INSERT INTO orders VALUES (1);"
KEY = "ab/" + "ab" * 32 + "-0123456789abcdef"


def refuse(_, mode, **more):
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.fixture(params=["refused", "ignored"])
def modeless(request, monkeypatch, tmp_path):
    """A folder in which the system changes no mode: it says so, or not."""
    monkeypatch.setattr(os, "chmod", refuse if request.param == "refused" else lambda *_, **more: None)
    return tmp_path / "blobs"


def test_blobs_are_stored_and_linked(modeless):
    storage = LocalStorage(LocalSettings(directory=modeless, lazy_root=True))

    storage.store(KEY, io.BytesIO(CONTENT), len(CONTENT))
    with tempfile.TemporaryFile(dir=modeless) as unnamed:
        unnamed.write(CONTENT)
        unnamed.seek(0)
        storage.store(KEY[:-1] + "e", unnamed, len(CONTENT))

    for key in (KEY, KEY[:-1] + "e"):
        with storage.open(key) as stored:
            assert CONTENT == stored.read()


def test_doctor_says_that_modes_have_no_effect(modeless):
    modeless.mkdir(mode=0o700)

    [finding] = examine(modeless, modeless / "no mounts")

    assert "warning" == finding.level
    assert "fs.local.file_permissions has no effect" in finding.message
    assert [] == list(modeless.iterdir())


def test_another_error_is_not_hidden(monkeypatch, tmp_path):
    def fail(*_, **more):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "chmod", fail)
    storage = LocalStorage(LocalSettings(directory=tmp_path / "blobs", lazy_root=True))

    with pytest.raises(Exception, match="Input/output error"):
        storage.store(KEY, io.BytesIO(CONTENT), len(CONTENT))
