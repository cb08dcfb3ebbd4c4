"""Guards of a collection: minimal retention, suspicious dumps, uploads with If-Match."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Version
from frepo_core.domain.roles import Role


@pytest.fixture
def make_collection(make_collection):
    """Make a collection of two versions at most, or with the given fields; return its id."""
    return lambda **form: make_collection(**{"maxBackupsCount": 2} | form)


@pytest.fixture
def numbers(app, admin):
    return lambda collection: [
        int(number) for number in app.get(f"/repository/collection/{collection}/backup?_token={admin}").json["versions"]
    ]


def age(services, days):
    """Give all versions this age."""
    services.database.write(
        lambda session: session.execute(update(Version).values(created_at=utc_now() - timedelta(days=days)))
    )


@pytest.mark.databases
def test_a_version_younger_than_the_retention_is_not_rotated(make_collection, push, numbers):
    target = make_collection(minRetention="7d")
    push(target, b"1")
    push(target, b"2")

    refused = push(target, b"3", status=400).json

    assert (4012, "minRetention") == (refused["error_code"], refused["field"])
    assert [1, 2] == numbers(target)


@pytest.mark.databases
def test_a_version_older_than_the_retention_is_rotated(services, make_collection, push, numbers):
    target = make_collection(minRetention="7d")
    push(target, b"1")
    push(target, b"2")
    age(services, days=8)

    push(target, b"3")

    assert [2, 3] == numbers(target)


@pytest.mark.databases
def test_the_retention_is_shown_as_it_was_written(app, admin, make_collection):
    shown = app.get(f"/repository/collection/{make_collection(minRetention='48h')}?_token={admin}").json["collection"]

    assert "2d" == shown["min_retention"]


def test_a_version_below_the_minimal_size_is_refused_and_removes_nothing(make_collection, push, numbers):
    target = make_collection(maxBackupsCount=1, minVersionSize=10)
    push(target, b"a whole dump")

    assert 4013 == push(target, b"empty", status=400).json["error_code"]
    assert [1] == numbers(target)


def test_a_version_that_shrank_too_much_is_refused_and_removes_nothing(make_collection, push, numbers):
    target = make_collection(maxBackupsCount=1, maxShrinkPercent=50)
    push(target, b"x" * 100)

    assert 4014 == push(target, b"x" * 49, status=400).json["error_code"]
    assert [1] == numbers(target)


def test_a_suspicious_version_is_kept_without_rotation_if_configured(make_collection, push, numbers):
    target = make_collection(minVersionSize=10, onSuspicious="keep")
    push(target, b"a whole dump")

    push(target, b"empty")
    assert 4013 == push(target, b"tiny", status=400).json["error_code"]
    assert [1, 2] == numbers(target)


def test_repeated_broken_dumps_remove_no_good_one(make_collection, push, numbers):
    """A broken dump is never the one that the next dump is compared with."""
    target = make_collection(maxBackupsCount=4, maxShrinkPercent=50, onSuspicious="keep")
    push(target, b"x" * 100)
    push(target, b"y" * 100)
    push(target, b"bad 1")
    push(target, b"bad 2")
    assert 4014 == push(target, b"bad 3", status=400).json["error_code"]
    assert [1, 2, 3, 4] == numbers(target)


def test_sizes_are_compared_with_a_good_version_and_never_with_a_suspicious_one(app, admin, make_collection, push):
    """Of the first versions, each is compared with the one before: two have no median."""
    target = make_collection(maxBackupsCount=5, maxShrinkPercent=50, onSuspicious="keep")
    for content in (b"x" * 100, b"bad 1", b"bad 2", b"bad 3", b"y" * 50):
        push(target, content)

    authorized = {"Authorization": f"Bearer {admin}"}
    found = app.get(f"/api/v1/collections/{target}/versions?sort=number", headers=authorized).json["items"]
    assert [False, True, True, True, False] == [version["suspicious"] for version in found]


def test_a_good_dump_replaces_a_suspicious_one_before_good_ones(make_collection, push, numbers):
    target = make_collection(maxShrinkPercent=50, onSuspicious="keep")
    push(target, b"x" * 100)
    push(target, b"bad")
    push(target, b"y" * 90)

    assert [1, 3] == numbers(target)


@pytest.mark.databases
def test_later_dumps_are_compared_with_a_permanently_smaller_one(app, admin, make_collection, push, numbers):
    target = make_collection(maxBackupsCount=3, maxShrinkPercent=50)
    push(target, b"x" * 100)
    for percent, content in ((0, b"y" * 10), (50, b"z" * 9)):
        app.put_json(f"/repository/collection?_token={admin}", {"collection": target, "maxShrinkPercent": percent})
        push(target, content)

    assert [1, 2, 3] == numbers(target)


def test_an_upload_with_if_match_is_accepted_after_the_version_that_it_names(make_collection, push, numbers):
    target = make_collection()
    push(target, b"1", If_Match="v0")
    push(target, b"2", If_Match='"v1"')
    assert [1, 2] == numbers(target)


def test_an_upload_that_does_not_match_the_last_version_is_refused_with_412(make_collection, push, numbers):
    target = make_collection()
    push(target, b"1")

    refused = push(target, b"2", status=412, If_Match="v0").json

    assert (4015, {"last_version": 1}) == (refused["error_code"], refused["context"])
    assert [1] == numbers(target)
    push(target, b"2", If_Match="v1")
    assert [1, 2] == numbers(target)


def test_an_invalid_if_match_is_a_field_error(make_collection, push):
    assert ["If-Match"] == list(push(make_collection(), b"1", status=400, If_Match="latest").json["fields"])


def test_a_stolen_token_cannot_remove_a_young_version(app, root, holder, make_collection, push, numbers):
    """This holds even for a token that may upload and delete: it can only fill the collection."""
    target = make_collection(minRetention="7d")
    names = [push(target, content).json["version"]["file"]["filename"] for content in (b"1", b"2")]
    thief = holder(Role.UPLOAD_VERSIONS, Role.UPLOAD_BACKUP, Role.DELETE_VERSIONS, Role.DELETE_ALL_FILES)
    root.post(f"/repository/collection/{target}/token", {"token": thief.token})
    path = f"/repository/collection/{target}"

    tried = [
        thief.call("POST", f"{path}/backup", body=b"garbage"),
        thief.delete(f"{path}/backup/v1"),
        *(thief.delete(f"/repository/file/{name}") for name in names),
        thief.delete(path),
        thief.put("/repository/collection", {"collection": target, "minRetention": "0"}),
        thief.put("/repository/collection", {"collection": target, "maxBackupsCount": 1}),
    ]

    assert [400, 400, 400, 400, 403, 403, 403] == [answer.status_int for answer in tried]
    assert ([4012, 4012], [1, 2]) == ([answer.json["error_code"] for answer in tried[:2]], numbers(target))
