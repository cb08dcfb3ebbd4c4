"""HTTP API, 2.7: deleting files and their bytes."""

import pytest

from frepo_core.domain.roles import Role

DELETED = {"success": True, "status": "OK", "error_code": None, "http_code": 200, "exit_code": 200}


def delete(caller, name, **query):
    return caller.delete(f"/repository/file/{name}", query)


@pytest.fixture
def blobs(tmp_path):
    """Count the stored blobs."""
    return lambda: sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


@pytest.fixture
def name(uploader):
    return uploader.upload(b"hello", "open.txt").json["filename"]


@pytest.fixture
def secret(uploader):
    return uploader.upload(b"hello", "secret.txt", password="p-5ecre7").json["filename"]


@pytest.mark.parametrize("role", [Role.DELETE_ALL_FILES, Role.ADMINISTRATOR])
def test_the_role_deletes_any_file(holder, name, secret, role):
    caller = holder(role)
    assert [delete(caller, name).json, delete(caller, secret).json] == [DELETED, DELETED]


@pytest.mark.databases
def test_the_password_deletes_a_protected_file(holder, secret):
    assert delete(holder(), secret, password="p-5ecre7").json == DELETED


def test_without_role_and_password_a_protected_file_stays(holder, secret):
    for query in [{}, {"password": ""}, {"password": "wrong-5ecre7"}]:
        answer = delete(holder(*set(Role) - {Role.ADMINISTRATOR, Role.DELETE_ALL_FILES}), secret, **query)

        assert (answer.status_int, answer.json["error_code"]) == (403, 403), query


def test_a_deletion_without_a_right_is_refused_and_leaves_the_file(holder, name, anonymous, secret):
    for query in [{}, {"password": ""}, {"password": "p-5ecre7"}]:
        assert delete(holder(), name, **query).status_int == 403, query
    assert delete(anonymous, secret, password="p-5ecre7").status_int == 403
    delete(holder(), name)
    assert anonymous.download(name).body == b"hello"
    answer = delete(holder(), "none.txt")
    assert (answer.status_int, answer.json["error_code"]) == (404, 404)


def test_a_deleted_file_is_gone_with_its_bytes_until_it_is_uploaded_again(root, anonymous, name, blobs):
    delete(root, name)
    assert (404, 404, 0) == (anonymous.download(name).status_int, delete(root, name).status_int, blobs())
    again = root.upload(b"hello", "open.txt")
    assert (again.status_int, anonymous.download(again.json["filename"]).body) == (200, b"hello")


@pytest.mark.databases
def test_a_versions_file_is_not_deleted_here(root, collection):
    name = root.push(collection).json["version"]["file"]["filename"]
    answer = delete(root, name)

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


@pytest.mark.databases
def test_bytes_that_another_file_or_a_version_uses_are_kept(root, anonymous, collection, name, secret, blobs):
    delete(root, secret)
    assert (blobs(), anonymous.download(name).body) == (1, b"hello")
    root.push(collection, b"hello")
    delete(root, name)
    assert blobs() == 1
