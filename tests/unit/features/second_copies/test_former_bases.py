"""A second copy that is still the difference to a former base, whose blob is deleted: the last copy of a content."""

import pytest

from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.content.objects.states import ObjectState
from frepo_core.services.upkeep.storage import verify, verify_copies
from support.encodings.nights import nights

pytestmark = pytest.mark.databases


@pytest.fixture
def contents():
    return list(nights(3, 2000))


@pytest.fixture
def oldest(add, blobs, contents, mirror, delete, tmp_path):
    """The oldest content got another base, and its first copy is lost before the second one was made again."""
    files = [add(content) for content in contents]
    blobs.chain(contents)
    mirror()
    assert blobs.encode(contents[0], contents[2])
    delete(files[1])
    (tmp_path / "storage" / blobs.row(contents[0]).key).unlink()
    mirror()
    return files[0]


def test_it_is_read(oldest, contents, second, read):
    assert [ObjectState.LEAVING] == [row.state for row in second.rows() if row.state == ObjectState.LEAVING]
    assert contents[0] == read(oldest)


def test_it_repairs_the_first_copy(services, oldest, contents, mirror, read, blobs):
    verify(services.database, services.backends)
    mirror()

    assert "present" == blobs.row(contents[0]).state
    assert [] == verify(services.database, services.backends).damaged
    assert contents[0] == read(oldest)


def test_it_is_read_from_a_promoted_storage_as_long_as_it_is_used(
    services, oldest, contents, mirror, read, blobs, tmp_path
):
    assert 0 == services.feature(SecondCopyServices).promotions.plan("second").loss.contents
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )
    (tmp_path / "storage").rename(tmp_path / "lost")
    (tmp_path / "storage").mkdir()

    for _ in range(2):
        services.feature(SecondCopyServices).mirror.confirm("second", 9)
        mirror()
    assert contents[0] == read(oldest)


def test_a_promotion_says_which_contents_need_a_base_that_has_no_copy(services, add, blobs, contents, mirror, second):
    for content in contents:
        add(content)
    blobs.chain(contents)
    mirror()
    copy = next(row for row in second.rows() if row.digest == blobs.row(contents[1]).digest)
    services.backends.get("second").delete(copy.key)
    verify_copies(services.database, services.backends, services.copies.storages())

    loss = services.feature(SecondCopyServices).promotions.plan("second").loss

    assert (2, len(contents[0]) + len(contents[1])) == (loss.contents, loss.size)
