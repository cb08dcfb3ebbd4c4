"""Two contents change places: the older one is uploaded again, so that the newer one becomes the difference to it."""

from io import BytesIO

import pytest

from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.upkeep.storage import verify, verify_copies
from support.encodings.nights import nights
from support.encodings.stored import sha256

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
    assert [None, blobs.row(contents[0]).digest] == [blobs.row(content).base_digest for content in contents]
    assert ["raw", "delta"] == [row.encoding for row in second.current()]
    assert contents == [read(file) for file in files]


def test_a_promoted_storage_has_both(services, files, contents, mirror, read, tmp_path):
    assert 0 == services.feature(SecondCopyServices).promotions.plan("second").loss.contents
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )
    (tmp_path / "storage").rename(tmp_path / "lost")
    (tmp_path / "storage").mkdir()

    mirror()

    assert contents == [read(file) for file in files]


def test_a_promotion_says_what_only_the_former_storage_decodes(services, files, contents, read, blobs, second):
    services.backends.get("local").store(blobs.row(contents[0]).key, BytesIO(contents[0]), len(contents[0]))
    [newer] = [row for row in second.rows() if row.digest == sha256(contents[1])]
    second.backend.delete(newer.key)
    verify_copies(services.database, services.backends, services.copies.storages())

    plan = services.feature(SecondCopyServices).promotions.plan("second")
    services.feature(SecondCopyServices).promotions.promote(plan)

    assert 2 == plan.loss.contents
    assert contents == [read(file) for file in files]
