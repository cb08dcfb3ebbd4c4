"""HTTP API, 2.1: repeated uploads: the same content, existing names, overwriting."""

import hashlib

import pytest

from frepo_core.domain.roles import Role
from support.answers import HELLO
from support.client import stored


@pytest.mark.databases
def test_the_same_content_under_any_name_answers_with_the_existing_file(uploader):
    first = uploader.upload(b"hello", "first.txt").json
    answer = uploader.upload(b"hello", "second.txt")

    assert answer.status_int == 202
    assert answer.json == first | {"http_code": 202, "exit_code": 202, "requested_filename": "second.txt"}


def test_another_token_is_answered_with_the_same_file(uploader, holder):
    first = uploader.upload(b"hello")
    answer = holder(Role.UPLOAD_DOCUMENTS).upload(b"hello", "b.txt")

    assert (answer.status_int, answer.json["id"]) == (202, first.json["id"])


def test_a_file_with_a_password_is_answered_to_those_who_send_it(uploader):
    first = uploader.upload(b"hello", password="secret-5ecre7").json["id"]
    for more, status in [({"password": "secret-5ecre7"}, 202), ({"password": "other-5ecre7"}, 200), ({}, 200)]:
        answer = uploader.upload(b"hello", "b.txt", **more)
        assert (answer.status_int, answer.json["id"] == first) == (status, status == 202), more


def test_an_unprotected_file_is_not_answered_to_an_upload_with_a_password(uploader, anonymous):
    uploader.upload(b"hello")
    name = uploader.upload(b"hello", password="secret-5ecre7").json["filename"]

    assert anonymous.download(name).status_int == 403


@pytest.mark.databases
def test_an_existing_name_gets_other_digits(uploader):
    uploader.upload(b"hello", "a.txt", password="secret-5ecre7")
    answer = uploader.upload(b"hello", "a.txt")

    digits = hashlib.sha256(f"{HELLO}1".encode()).hexdigest()[:10]
    assert answer.json["filename"] == f"{digits}a.txt"


@pytest.mark.databases
def test_a_second_record_shares_the_bytes(uploader, tmp_path):
    uploader.upload(b"hello", password="secret-5ecre7")
    uploader.upload(b"hello")

    assert 1 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_a_versions_record_is_never_answered(root, collection):
    pushed = root.push(collection, b"hello")
    answer = root.upload(b"hello")

    assert answer.status_int == 200
    assert answer.json["id"] != pushed.json["version"]["file"]["id"]


def test_uploading_again_without_overwrite_does_not_change_the_record(uploader, services):
    uploader.upload(b"hello", tags="a")
    answer = uploader.upload(b"hello", tags="b", public="true")
    file = stored(services, answer)

    assert (file.tags, file.public) == (("a",), False)


@pytest.mark.databases
def test_overwriting_replaces_tags_public_and_password(holder, services):
    owner = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    first = owner.upload(b"hello", "first.txt", tags="a", password="old-5ecre7")
    answer = owner.upload(b"hello", "second.txt", tags="b", public="1", password="new-5ecre7", fileOverwrite="1")
    file = stored(services, answer)

    assert (answer.status_int, answer.json["filename"]) == (202, first.json["filename"])
    assert (file.tags, file.public) == (("b",), True)


def test_overwriting_replaces_the_password(holder, anonymous):
    owner = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    name = owner.upload(b"hello", password="old-5ecre7").json["filename"]
    owner.upload(b"hello", password="new-5ecre7", fileOverwrite="1")
    answers = [anonymous.download(name, {"password": word}).status_int for word in ("old-5ecre7", "new-5ecre7")]

    assert answers == [403, 200]


@pytest.mark.databases
def test_overwriting_replaces_the_record_of_this_name(holder, anonymous):
    owner = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    names = [
        owner.upload(b"hello", f"{word}.txt", password=f"{word}-5ecre7").json["filename"] for word in ("one", "two")
    ]
    assert owner.upload(b"hello", "two.txt", fileOverwrite="1").json["filename"] == names[1]
    assert [anonymous.download(name).status_int for name in names] == [403, 200]


def test_overwriting_needs_its_role(uploader, holder):
    answer = uploader.upload(fileOverwrite="true")
    assert (answer.status_int, answer.json["status"].endswith("overwrite_not_allowed")) == (403, True)
    assert uploader.upload(fileOverwrite="false").status_int == 200
    assert holder(Role.UPLOAD_ALL, Role.OVERWRITE).upload(b"missing", fileOverwrite="1").status_int == 200
