"""Two contents change places: the older one is uploaded again, so that the newer one becomes the difference to it."""

import shutil
from io import BytesIO

import pytest

from frepo_core.plugins import LeaseLost
from frepo_core.services.content.chains.dependents import find_dependents
from frepo_core.services.upkeep.mirror import row_switch
from frepo_core.services.upkeep.storage import verify
from support.encodings.nights import nights

pytestmark = pytest.mark.databases


@pytest.fixture
def contents():
    return list(nights(2, 2000))


@pytest.fixture
def files(add, blobs, contents, mirror, tmp_path):
    """The second copies are as before, and the first copy of the older content is lost."""
    files = [add(content) for content in contents]
    older, newer = contents
    assert blobs.encode(older, newer)
    mirror()
    assert blobs.expand(older)
    assert blobs.encode(newer, older)
    (tmp_path / "storage" / blobs.row(older).key).unlink()
    return files


@pytest.mark.costly
def test_no_second_copy_is_made_the_difference_to_one_that_needs_it(files, contents, mirror, read):
    mirror()

    assert contents == [read(file) for file in files]


@pytest.mark.costly
def test_the_lost_one_is_repaired_and_both_copies_are_made_again(
    services, files, contents, mirror, read, second, blobs
):
    mirror()
    verify(services.database, services.backends)
    for _ in range(2):
        mirror()
        second.make_due()

    assert [] == verify(services.database, services.backends).damaged
    assert [None, blobs.row(contents[0]).id] == [blobs.row(content).base_id for content in contents]
    assert ["raw", "delta"] == [row.encoding for row in second.rows()]
    assert contents == [read(file) for file in files]


@pytest.mark.costly
def test_a_promotion_that_is_killed_between_the_two_can_be_completed(
    services, files, contents, read, blobs, tmp_path, monkeypatch
):
    services.promotions.promote(services.promotions.plan("second"))
    monkeypatch.setattr(row_switch, "PAGE", 1)

    def end():
        if blobs.row(contents[0]).storage == "second":
            raise LeaseLost

    with pytest.raises(LeaseLost):
        services.promotions.switch_rows(keep_going=end)
    with services.database.reading() as session:
        ids = [blobs.row(content).id for content in contents]
        assert [[[ids[1]]], [[ids[0]]]] == [list(find_dependents(session, id_)) for id_ in ids]
    services.promotions.switch_rows()
    shutil.rmtree(tmp_path / "storage")

    assert ["delta", "raw"] == [blobs.row(content).encoding for content in contents]
    assert contents == [read(file) for file in files]


def test_a_promotion_leaves_a_content_whose_base_stays_and_needs_it(services, files, contents, read, blobs, second):
    services.backends.get("local").store(blobs.row(contents[0]).key, BytesIO(contents[0]), len(contents[0]))
    second.backend.delete(second.rows()[1].key)
    services.mirror.verify()

    plan = services.promotions.plan("second")
    services.promotions.promote(plan)
    services.promotions.switch_rows()

    assert 2 == plan.loss.contents
    assert contents == [read(file) for file in files]
