"""Content in a temporary file: a full disk is reported for each kind of upload."""

import base64
import os
from io import BytesIO
from pathlib import Path

import pytest

from frepo_core.errors import StorageFull
from frepo_core.services.content.decoding.base64_decoder import decoded
from frepo_core.services.content.ingest import Incoming, Ingest
from frepo_core.testing.sources import Source


class FullDisk(Ingest):
    """Uses /dev/full, which is always full, as temporary file."""

    def temporary_file(self):
        return Path("/dev/full").open("wb+", buffering=0)


def test_a_full_disk_is_reported_for_a_stream():
    with pytest.raises(StorageFull), FullDisk(None).read(Incoming(stream=Source(1000).file)):
        pass


def test_a_full_disk_is_reported_for_decoded_content(monkeypatch):
    monkeypatch.setattr(
        "frepo_core.services.content.spool.open_unnamed", lambda folder: os.open("/dev/full", os.O_RDWR)
    )
    text = BytesIO(base64.b64encode(bytes(1 << 20)))
    with pytest.raises(StorageFull), decoded(Incoming(stream=text), Ingest(None)):
        pass
