"""Answers that have not changed are not sent again."""

import pytest

LIST = "/api/v1/collections"


@pytest.fixture
def create(root):
    return lambda: root.post(LIST, {"name": "dump.sql.gz"}).json


def test_an_unchanged_list_is_a_304_without_a_body(root, create):
    create()
    tag = root.get(LIST).headers["ETag"]

    answer = root.get(LIST, headers={"If-None-Match": f'"other", {tag}'}, expect_errors=True)

    assert tag.startswith('W/"')
    assert (304, b"", tag) == (answer.status_int, answer.body, answer.headers["ETag"])


def test_a_changed_list_is_sent(root, create):
    create()
    tag = root.get(LIST).headers["ETag"]
    create()

    answer = root.get(LIST, headers={"If-None-Match": tag})

    assert 2 == len(answer.json["items"])
    assert tag != answer.headers["ETag"]


def test_the_etag_of_a_resource_that_can_be_edited_is_no_validator(root, create):
    path = f"{LIST}/{create()['id']}"
    tag = root.get(path).headers["ETag"]

    assert 200 == root.get(path, headers={"If-None-Match": tag}).status_int
    assert not tag.startswith("W/")
