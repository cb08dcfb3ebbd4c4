"""A content that lies in a file already: the storage links it, and its name goes after the commit."""

import os
from pathlib import Path

import pytest

from frepo_core.plugins import FieldsError, FrepoError, NewRun, SessionFile

from .conftest import DUMP


def blobs(tmp_path):
    """Return the blobs, without the mark of the storage's owner."""
    return [path for path in (tmp_path / "storage").glob("??/*") if not path.name.startswith("667265706f")]


def test_a_session_file_is_linked_and_its_name_removed(
    tmp_path, running, service, collection, uploader, spooled, checksums
):
    path = spooled()
    inode = path.stat().st_ino

    with SessionFile(path, checksums(DUMP)) as content:
        added = service.add_version(collection, content, by=uploader, size=len(DUMP), sha256=content.sha256)

    (blob,) = blobs(tmp_path)
    assert (inode, 1, 0o640) == (blob.stat().st_ino, blob.stat().st_nlink, blob.stat().st_mode & 0o777)
    assert (False, len(DUMP)) == (path.exists(), added.size)
    assert DUMP == running.request("GET", f"/api/v1/collections/{collection}/versions/v1/content").body


def test_the_digest_of_the_plugin_is_not_computed_again(service, collection, uploader, spooled, checksums):
    with SessionFile(spooled(), checksums(b"what the plug-in says")) as content:
        added = service.add_version(collection, content, by=uploader)

    assert checksums(b"what the plug-in says").digest == added.sha256


def test_a_refusal_leaves_the_file_where_it_was(tmp_path, service, collection, uploader, spooled, checksums):
    path = spooled()

    for refused in ({"size": 5}, {"sha256": "0" * 64}, {"run": NewRun(outcome="ok", exit_statuses=(1,))}):
        with SessionFile(path, checksums(DUMP)) as content, pytest.raises(FrepoError):
            service.add_version(collection, content, by=uploader, **refused)

    assert (DUMP, False, []) == (path.read_bytes(), SessionFile.is_shared(path), blobs(tmp_path))


@pytest.mark.costly
def test_known_content_is_taken_without_a_second_blob(tmp_path, service, collection, uploader, spooled, checksums):
    for _ in range(2):
        path = spooled()
        with SessionFile(path, checksums(DUMP)) as content:
            service.add_version(collection, content, by=uploader)

    assert (1, False) == (len(blobs(tmp_path)), path.exists())


def test_a_storage_that_links_nothing_reads_the_file(tmp_path, service, collection, uploader, spooled, checksums):
    path = spooled()

    class Copied(SessionFile):
        def link_to(self, target: Path) -> bool:
            return False

    inode = path.stat().st_ino
    with Copied(path, checksums(DUMP)) as content:
        service.add_version(collection, content, by=uploader)

    (blob,) = blobs(tmp_path)
    assert (DUMP, True, False) == (blob.read_bytes(), blob.stat().st_ino != inode, path.exists())


def test_another_file_under_the_path_is_neither_linked_nor_removed(tmp_path, spooled, checksums):
    path = spooled()
    with SessionFile(path, checksums(DUMP)) as content:
        path.rename(tmp_path / "moved")
        path.write_bytes(b"another")

        assert not content.link_to(tmp_path / "target")
        content.taken()

    assert ([b"another"], False) == ([path.read_bytes()], (tmp_path / "target").exists())


def test_a_symbolic_link_is_no_session_file(tmp_path, spooled, checksums):
    link = tmp_path / "link"
    link.symlink_to(spooled())

    with pytest.raises(OSError, match="symbolic"):
        SessionFile(link, checksums(DUMP))


def test_a_file_with_a_second_name_is_shared(tmp_path, spooled):
    path = spooled()

    assert not SessionFile.is_shared(path)
    os.link(path, tmp_path / "second")
    assert SessionFile.is_shared(path)


def test_a_file_is_uploaded_without_a_copy(tmp_path, running, service, identify, spooled, checksums):
    path = spooled()
    inode = path.stat().st_ino

    with SessionFile(path, checksums(DUMP)) as content:
        service.upload_file(content, "a.sql", by=identify(running.admin), sha256=content.sha256)
        with pytest.raises(FieldsError):
            service.upload_file(content, "/", by=identify(running.admin))

    assert ([inode], False) == ([blob.stat().st_ino for blob in blobs(tmp_path)], path.exists())
