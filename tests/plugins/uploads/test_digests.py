"""The digest of an upload whose parts have come to several processes, or were given back."""

import hashlib
import os
from datetime import UTC, datetime

import pytest

from frepo_core.plugins import Identity
from frepo_uploads.disk.digests import Digests
from frepo_uploads.disk.part_file import PartFile
from frepo_uploads.session import Upload

PART = 3 << 20
CONTENT = os.urandom(3 * PART)


@pytest.fixture
def file(tmp_path):
    with PartFile(tmp_path, "upload", offset=0, is_new=True) as file:
        file.write(CONTENT)
        yield file


@pytest.fixture
def digest_of(file):
    def digest_of(digests):
        now = datetime.now(UTC)
        upload = Upload(
            id="upload",
            place="here",
            creator=Identity(token="a", fingerprint="a", roles=frozenset()),
            collection_id=None,
            length=len(CONTENT),
            created_at=now,
            touched_at=now,
        )
        return digests.complete(upload, file, lambda hashed: None).digest

    return digest_of


@pytest.mark.parametrize("parts", [[0, 1, 2], [0, 2], [1, 2], [2], [0, 1], []])
def test_a_process_that_has_seen_some_of_the_parts_knows_the_digest(file, digest_of, parts):
    digests = Digests()
    for part in parts:
        digests.follow("upload", file.path, part * PART, (part + 1) * PART)

    assert digest_of(digests) == hashlib.sha256(CONTENT).hexdigest()


def test_a_file_that_cannot_be_read_in_between_is_read_at_the_end(file, digest_of, tmp_path):
    digests = Digests()
    digests.follow("upload", tmp_path / "gone", 0, PART)

    assert digest_of(digests) == hashlib.sha256(CONTENT).hexdigest()
