"""Second copies of encoded contents: copied as they are stored, after their bases, and read in place of the first."""

import os
import signal
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.features.second_copies import copier
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.base import failpoints
from frepo_core.services.base.failpoints import COMPACT_POINTS
from frepo_core.services.content.objects.states import ObjectState
from frepo_core.services.upkeep.storage import verify, verify_copies
from support.encodings.nights import nights
from support.scale import first_of


@pytest.fixture
def contents():
    return list(nights(4, 2000))


@pytest.fixture
def files(add, contents):
    return [add(content) for content in contents]


def encodings(services):
    with services.database.reading() as session:
        current = (StoredObject.storage == "second", StoredObject.slot == 1)
        rows = session.scalars(select(StoredObject).where(*current).order_by(StoredObject.content_id))
        return [(row.state, row.encoding) for row in rows]


def path_in(folder, row):
    return folder / row.key


@pytest.mark.costly
@pytest.mark.databases
def test_copies_are_renewed_and_stay_until_then(services, blobs, contents, files, mirror, second, read):
    mirror()
    before = second.present_keys()
    blobs.chain(contents, newest="zstd")

    assert before == second.present_keys()
    mirror()
    deltas = [(ObjectState.PRESENT, "delta")] * 3
    assert [*deltas, (ObjectState.PRESENT, "zstd")] == encodings(services)
    with services.database.reading() as session:
        superseded = (StoredObject.storage == "second", StoredObject.state == "superseded")
        replaced = set(session.scalars(select(StoredObject.key).where(*superseded)))
    assert set(before) == replaced
    assert {*second.present_keys(), *before} == {*second.stored()}
    assert [] == verify_copies(services.database, services.backends, services.copies.storages()).damaged
    assert contents == [read(file) for file in files]


@pytest.mark.costly
def test_a_copy_that_a_sweep_has_deleted_before_it_had_a_row_is_not_used(
    services, blobs, contents, files, mirror, second, monkeypatch
):
    """As when the machine of the worker is suspended for a day while a copy is renewed."""
    mirror()
    before, hit = second.stored(), copier.hit
    blobs.chain(contents)

    def sleep_at(point):
        hit(point)
        if point == "copy_read_back":
            for key in {*second.stored()} - {*before}:
                second.backend.delete(key)

    with monkeypatch.context() as patched:
        patched.setattr(copier, "hit", sleep_at)
        mirror()
    assert before == second.present_keys() == second.stored()

    mirror()
    assert 3 == len({*second.present_keys()} - {*before})
    assert {*second.present_keys()} <= {*second.stored()}


def test_a_blob_that_is_encoded_while_it_is_copied_gets_a_new_copy(
    services, blobs, contents, files, mirror, monkeypatch
):
    hit, left = copier.hit, [contents]

    def encode_at(point):
        hit(point)
        if point == "copy_read_back" and left:
            blobs.chain(left.pop())

    monkeypatch.setattr(copier, "hit", encode_at)
    mirror()
    mirror()

    deltas = [(ObjectState.PRESENT, "delta")] * 3
    assert [*deltas, (ObjectState.PRESENT, "raw")] == encodings(services)


@pytest.mark.costly
@pytest.mark.databases
def test_a_delta_is_copied_after_its_base(services, blobs, contents, files, mirror, second):
    blobs.chain(contents)
    base = (StoredObject.content_id == blobs.row(contents[3]).content_id, StoredObject.storage == "second")
    services.database.execute(update(StoredObject).where(*base).values(next_try=utc_now() + timedelta(hours=1)))
    mirror()
    assert ["wanted"] * 4 == second.states()

    second.make_due()
    mirror()

    assert ["present"] * 4 == second.states()


@pytest.mark.costly
@pytest.mark.parametrize("lost", range(4))
def test_any_object_of_a_chain_is_read_from_its_second_copy(
    services, blobs, contents, files, mirror, read, lost, tmp_path
):
    blobs.chain(contents, newest="zstd")
    mirror()
    path = path_in(tmp_path / "storage", blobs.row(contents[lost]))
    data = bytearray(path.read_bytes())
    data[len(data) * 2 // 3] ^= 4

    path.write_bytes(data)
    assert contents == [read(file) for file in files]
    path.unlink()
    assert contents == [read(file) for file in files]


def test_a_damaged_base_with_a_sound_copy_affects_nobody_and_is_repaired(
    services, blobs, contents, files, mirror, tmp_path, read
):
    blobs.chain(contents, newest="zstd")
    mirror()
    path_in(tmp_path / "storage", blobs.row(contents[2])).write_bytes(b"no object")
    found = verify(services.database, services.backends).damaged

    assert [blobs.row(contents[2]).digest] == [damage.digest for damage in found]
    mirror()
    assert [] == verify(services.database, services.backends).damaged
    assert "delta" == blobs.row(contents[2]).encoding
    assert contents == [read(file) for file in files]


def test_the_copy_of_a_base_leaves_after_those_that_need_it(services, blobs, contents, files, mirror, second, delete):
    blobs.chain(contents)
    mirror()
    for file in files:
        delete(file)
    services.feature(SecondCopyServices).mirror.confirm("second", 9)
    mirror()

    assert ["gone"] * 4 == second.states()
    assert [] == second.stored()


def test_a_promoted_storage_has_the_chains(services, blobs, contents, files, mirror, read, tmp_path):
    blobs.chain(contents, newest="zstd")
    mirror()
    for content in contents:
        path_in(tmp_path / "storage", blobs.row(content)).unlink()
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )

    assert ["delta", "delta", "delta", "zstd"] == [encoding for _, encoding in encodings(services)]
    assert contents == [read(file) for file in files]


@pytest.mark.parametrize("point", first_of(COMPACT_POINTS[:3]) + COMPACT_POINTS[2:3])
def test_a_process_that_is_killed_while_it_switches_loses_nothing(services, blobs, contents, files, read, point):
    child = os.fork()
    if not child:
        try:
            services.database.engine.dispose(close=False)
            failpoints._armed = point
            blobs.chain(contents)
        finally:
            os._exit(1)
    status = os.waitpid(child, 0)[1]

    assert signal.SIGKILL == os.WTERMSIG(status)
    assert contents == [read(file) for file in files]
    for older, newer in ((2, 3), (1, 2), (0, 1)):
        blobs.encode(contents[older], contents[newer])
    assert contents == [read(file) for file in files]
    assert [] == verify(services.database, services.backends).damaged


def test_each_object_is_read_until_one_is_right(services, blobs, contents, files, read, tmp_path):
    """Two need a base that is damaged. The third one, which they have replaced, needs another base."""
    blobs.encode(contents[0], contents[3])
    blobs.end_superseded()
    for base in (contents[2], contents[3]):
        blobs.encode(contents[0], base)
    path = path_in(tmp_path / "storage", blobs.row(contents[3]))
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"2028", b"2029"))

    assert contents[0] == read(files[0])
