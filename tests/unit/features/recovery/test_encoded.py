"""A recovery finds contents that are stored encoded, also those whose base no version uses, without a newer journal."""

import subprocess
import sys

import pytest
from sqlalchemy import select, text

from frepo_core.db.models import StoredObject
from frepo_core.services.upkeep.storage import verify
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs
from support.paths import ROOT


@pytest.fixture
def contents():
    return list(nights(4, 2000))


@pytest.fixture
def lost(services, run, sender, make_collection, push, contents):
    """A collection whose versions became encoded after the last journal, and whose third one was deleted since."""
    collection = make_collection(9)
    for content in contents:
        push(collection, content)
    blobs = StoredBlobs(services)
    blobs.encode(contents[3])
    run("catalogue")
    for older, newer in ((2, 3), (1, 2), (0, 1)):
        blobs.encode(contents[older], contents[newer])
    blobs.end_superseded()
    return collection


def read_all(services, collection):
    found = {}
    for version in services.versions.list(collection):
        with services.stored_content.open(version.file.blob) as content:
            found[version.number] = b"".join(iter(lambda: content.read(1 << 16), b""))
    return found


def delete(services, collection, number, contents, sender):
    """Delete a version and its entry in the trash."""
    services.versions.delete(collection, f"v{number}", by=sender)
    with services.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM trash"))
    services.blobs.collect([StoredBlobs(services).row(contents[number - 1]).content_id])


@pytest.mark.costly
def test_the_journal_need_not_know_how_contents_are_stored(services, lost, recovered, contents):
    before = {blob.digest: (blob.encoding, blob.stored_digest) for blob in all_blobs(services)}
    new, report = recovered()

    assert dict(enumerate(contents, 1)) == read_all(new, lost)
    assert before == {blob.digest: (blob.encoding, blob.stored_digest) for blob in all_blobs(new)}
    assert 0 == report.missing
    assert [] == verify(new.database, new.backends).damaged


@pytest.mark.costly
def test_a_base_that_no_version_uses_gets_a_row(services, run, lost, recovered, contents, sender):
    delete(services, lost, 3, contents, sender)
    run("catalogue")
    new, _ = recovered()

    assert {1: contents[0], 2: contents[1], 4: contents[3]} == read_all(new, lost)
    assert 4 == len(all_blobs(new))
    assert [] == verify(new.database, new.backends).damaged


@pytest.mark.costly
def test_a_content_whose_base_is_nowhere_is_damaged(services, lost, recovered, contents, tmp_path):
    (tmp_path / "storage" / StoredBlobs(services).row(contents[3]).key).unlink()
    new, report = recovered()

    assert 4 == report.missing
    assert 4 == len(verify(new.database, new.backends).damaged)
    assert all(version.file.blob.is_damaged for version in new.versions.list(lost))


def test_the_script_reads_them(services, lost, contents, tmp_path):
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "4 contents were written, 0 are missing or damaged") == (done.returncode, done.stderr.splitlines()[-1])
    (folder,) = (tmp_path / "out/versions").iterdir()
    found = {int(path.name.partition("-")[0]): path.read_bytes() for path in folder.iterdir()}
    assert dict(enumerate(contents, 1)) == found


def test_the_script_follows_no_link(services, lost, tmp_path):
    """Somebody may have put links where it writes: the names are those of collections and of times."""
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]
    subprocess.run(arguments, capture_output=True, check=True, timeout=60)
    other = tmp_path / "other"
    other.write_bytes(b"kept")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    for path in written:
        path.unlink()
        path.symlink_to(other)

    subprocess.run(arguments, capture_output=True, check=True, timeout=60)

    assert written
    assert b"kept" == other.read_bytes()
    assert [] == [path for path in (tmp_path / "out").rglob("*") if path.is_symlink()]


def all_blobs(services):
    with services.database.reading() as session:
        return session.scalars(select(StoredObject).where(StoredObject.slot == 1).order_by(StoredObject.id)).all()
