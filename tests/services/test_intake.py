"""Content that waits in a temporary file: a full disk is said to be full, whichever way the bytes came."""

import base64
import errno
import hashlib
import os
from io import BytesIO
from pathlib import Path

import pytest

from frepo_core.errors import StorageFull
from frepo_core.services.decoding import decoded
from frepo_core.services.intake import Incoming, Intake
from frepo_core.services.spooling import SpoolFile, open_unnamed
from frepo_core.testing.sources import Source


class FullDisk(Intake):
    """Its temporary files are the device that is always full."""

    def temporary_file(self):
        return Path("/dev/full").open("wb+", buffering=0)


def test_a_full_disk_for_a_stream_is_said_so():
    with pytest.raises(StorageFull), FullDisk(None).read(Incoming(stream=Source(1000).file)):
        pass


def test_a_full_disk_for_decoded_content_is_said_so(monkeypatch):
    monkeypatch.setattr("frepo_core.services.spooling.open_unnamed", lambda folder: os.open("/dev/full", os.O_RDWR))
    text = BytesIO(base64.b64encode(bytes(1 << 20)))
    with pytest.raises(StorageFull), decoded(Incoming(stream=text), Intake(None)):
        pass


@pytest.mark.parametrize("kernel_copies", [True, False])
def test_a_part_of_a_file_is_copied_and_hashed(monkeypatch, tmp_path, kernel_copies):
    def refuse(*_):
        raise OSError(errno.EXDEV, "across disks")

    if not kernel_copies:
        monkeypatch.setattr(os, "copy_file_range", refuse)
    content = os.urandom(1000) + bytes(20 << 20) + b"end"
    (tmp_path / "whole").write_bytes(b"head" + content + b"tail")
    intake = Intake(tmp_path)
    with (tmp_path / "whole").open("rb") as whole, SpoolFile(open_unnamed(str(tmp_path)), intake.hashers) as part:
        part.copy(whole.fileno(), 4, len(content))
        part.seek(0)

        assert (content, hashlib.sha256(content).hexdigest()) == (part.read(), part.sha256())
