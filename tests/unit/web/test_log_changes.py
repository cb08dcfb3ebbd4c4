"""The log names each change with its token and address; see also `test_log.py`."""

import hashlib
import logging
import re

import pytest

from frepo_core.domain.roles import Role

SHA256 = hashlib.sha256(b"hello").hexdigest()
HERE = {"REMOTE_ADDR": "192.0.2.7"}
COLLECTION = "/repository/collection"


@pytest.fixture
def said(caplog):
    """Return the services' log lines since the last call, without those of the database."""
    caplog.set_level(logging.INFO, "frepo_core")

    def said():
        lines = [record.getMessage() for record in caplog.records if record.name.startswith("frepo_core")]
        caplog.clear()
        return "\n".join(lines)

    return said


@pytest.fixture
def who(root, services):
    """The administrator's name in the log."""
    return f"token {services.tokens.fingerprint(root.token)} from 192.0.2.7"


@pytest.fixture
def act(root, said):
    """Send a request as the administrator from an address; return the logged lines."""

    def act(method, path, query=(), **more):
        said()
        answer = root.call(method, path, query, environ=HERE, **more)
        assert answer.status_int < 300, answer
        return said()

    return act


def test_an_uploaded_file_is_logged(act, who):
    said = act("POST", "/repository/file/upload", {"fileName": "a.txt"}, body=b"hello")

    assert re.search(
        rf"^file \d+: added by {who}: name '\w+a.txt', size 5, sha256 '{SHA256}', type 'text/plain'$", said
    )


def test_an_upload_of_known_content_is_logged(act, who, root):
    root.upload()

    assert f"uploaded again by {who}: name '" in act("POST", "/repository/file/b.txt", body=b"hello")


def test_an_overwrite_is_logged_with_old_and_new_values(act, who, root):
    root.upload(tags="old", password="first-5ecre7")
    query = {"fileOverwrite": "true", "tags": "new", "public": "true", "password": "other-5ecre7"}

    said = act("POST", "/repository/file/a.txt", query, body=b"hello")

    assert f"overwritten by {who}: tags ['old'] -> ['new'], public False -> True, password set" in said


def test_a_deleted_file_is_logged(act, who, root):
    name = root.upload().json["filename"]

    assert f"deleted by {who}: name '{name}', size 5" in act("DELETE", f"/repository/file/{name}")


def test_a_new_collection_is_logged(act, who):
    said = act("POST", COLLECTION, json={"filename": "a.sql", "description": "two\nlines", "maxBackupsCount": 3})

    assert f"created by {who}: name 'a.sql', description 'two\\nlines', strategy 'delete_oldest" in said
    assert "versions 3," in said


def test_an_edit_is_logged_with_old_and_new_values(act, who, collection):
    form = {"collection": collection, "maxBackupsCount": 7, "minRetention": "2d", "password": "new-5ecre7"}

    said = act("PUT", COLLECTION, json=form)

    changed = "versions 0 -> 7, min_retention 'PT0S' -> 'P2D', password set"
    assert said == f"collection {collection}: edited by {who}: {changed}"


def test_an_edit_of_a_password_alone_is_logged(act, who, make_collection):
    collection = make_collection(password="old-5ecre7")

    said = act("PUT", COLLECTION, json={"collection": collection, "password": ""})

    assert said == f"collection {collection}: edited by {who}: password removed"


def test_a_deleted_collection_is_logged(act, who, collection):
    said = act("DELETE", f"{COLLECTION}/{collection}")

    assert f"collection {collection}: deleted by {who}: name 'dump.sql.gz'" in said


def test_versions_are_logged_with_their_content(act, who, make_collection):
    path = f"{COLLECTION}/{(collection := make_collection(maxBackupsCount=1))}/backup"

    added, again, deleted = (
        act("POST", path, body=b"hello"),
        act("POST", path, body=b"x"),
        act("DELETE", f"{path}/v2"),
    )

    assert f"collection {collection}: version 1 added by {who}: name '" in added
    assert f"size 5, sha256 '{SHA256}'" in added
    assert f"collection {collection}: version 1 was removed for version 2" in again
    assert f"collection {collection}: version v2 deleted by {who}: name '" in deleted


def test_allowing_a_token_is_logged_once(act, who, holder, services, collection):
    token = holder(Role.UPLOAD_ALL).token
    shown, path = services.tokens.fingerprint(token), f"{COLLECTION}/{collection}/token"

    allowed, again = act("POST", path, json={"token": token}), act("POST", path, json={"token": token})
    removed, gone = act("DELETE", f"{path}/{token}"), act("DELETE", f"{path}/{token}")

    assert f"collection {collection}: token {shown} was allowed by {who}" == allowed
    assert f"collection {collection}: token {shown} was taken off its list by {who}" == removed
    assert ("", "") == (again, gone)


def test_a_new_token_is_logged_with_its_roles_and_restrictions(act, who):
    data = {"tags": ["a"], "maxAllowedFileSize": 9, "allowedUserAgents": ["word-5ecre7"]}

    said = act("POST", "/auth/token/generate", json={"roles": ["upload.all"], "data": data, "expires": "2035-01-02"})

    assert re.match(rf"token [0-9a-f]{{12}} was made by {who}: roles \['upload.all'\], expires_at '2035-01-02T", said)
    assert "tags ['a'], mime_types [], max_file_size 9, ip_addresses [], user_agents_count 1" in said


def test_revoked_and_cleared_tokens_are_logged(act, who, make_token, services):
    revoked, expired = make_token(Role.UPLOAD_ALL), make_token(Role.UPLOAD_ALL, expires="2001-01-01")
    shown = [services.tokens.fingerprint(token) for token in (revoked, expired)]

    assert f"token {shown[0]} was revoked by {who}" == act("DELETE", f"/auth/token/{revoked}")
    assert f"token {shown[1]} was removed by {who}: it expired at 2001" in act("GET", "/jobs/token/expired/clear")


def test_a_token_that_is_used_up_is_logged(holder, services, said):
    caller = holder(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    shown = services.tokens.fingerprint(caller.token)
    caller.upload()

    assert f"token {shown} was used up by its upload" in said()


def test_simulated_changes_are_not_logged(root, collection, said):
    for method in ["POST", "PUT", "DELETE"]:
        path = f"{COLLECTION}/{collection}" if method == "DELETE" else COLLECTION
        form = {"filename": "b.sql"} | ({"collection": collection} if method == "PUT" else {})
        said()

        root.call(method, path, {"simulate": "true"}, json=None if method == "DELETE" else form)

        assert said() == "", method
