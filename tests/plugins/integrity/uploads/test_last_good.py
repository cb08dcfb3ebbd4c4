"""integrity.keep_last_good: the only good version of a collection cannot be deleted."""

import gzip

import pytest

GOOD = [gzip.compress(b"dump %d" % number) for number in range(2)]
CUT = gzip.compress(b"cut" * 99)[:-5]


@pytest.fixture
def collection(root):
    """A collection with two good versions, and a broken one that is marked."""
    made = root.create(maxBackupsCount=9).json["collection"]["id"]
    for content in (*GOOD, CUT):
        root.push(made, content)
    return made


@pytest.fixture
def delete(root, collection):
    return lambda what: root.delete(f"/api/v1/collections/{collection}{what}")


class TestOn:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"integrity.keep_last_good": "yes", "integrity.gzip": "mark"}

    def test_the_only_good_version_stays(self, root, collection, delete):
        first, second, third = (delete(f"/versions/{name}") for name in ("v1", "v2", "v3"))

        assert [204, 409, 204] == [first.status_int, second.status_int, third.status_int]
        assert 4025 == second.json["code"]
        assert "v2 is the only good backup that is left" in second.json["detail"]
        assert ["2"] == [*root.versions(collection)]

    def test_all_versions_with_the_collection_stay(self, root, collection, delete):
        assert 409 == delete("?versions=trash").status_int
        assert ["1", "2", "3"] == [*root.versions(collection)]


def test_without_the_setting_nothing_is_refused(delete):
    assert [204, 204] == [delete(f"/versions/{name}").status_int for name in ("v1", "v2")]
