"""The log for operators: refusals and deletions."""

import logging

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import RuleError, UploadCheckError
from frepo_core.services.content.checks.upload_checks import UploadChecks
from support.client import Client


@pytest.fixture
def said(caplog):
    """Return the text that was logged since the last call."""
    caplog.set_level(logging.INFO)

    def said():
        text = caplog.text
        caplog.clear()
        return text

    return said


def test_a_missing_role_is_logged(uploader, services, said):
    uploader.get("/repository", environ={"REMOTE_ADDR": "192.0.2.7"})

    fingerprint = services.tokens.fingerprint(uploader.token)
    assert f"refused: list_files from 192.0.2.7, token {fingerprint}: No access: the token lacks the role" in said()


def test_a_refused_version_is_logged_with_its_collection_and_the_reason(root, make_collection, services, said):
    collection = make_collection(filename="night.sql.gz", minVersionSize=10)
    said()

    assert 400 == root.push(collection, b"short").status_code
    who, text = services.tokens.fingerprint(root.token), said()
    assert "WARNING  frepo_core.services.events.refusals:refusals.py" in text
    assert f"collection {collection} ('night.sql.gz'): a version of 5 bytes by token {who} from " in text
    assert " was refused: The version is smaller than guards.min_version_size of the collection" in text
    assert root.token not in text


def test_each_refused_version_has_one_line_in_the_log(root, make_collection, said):
    collection = make_collection(minVersionSize=10)
    said()

    for _ in range(2):
        root.push(collection, b"short")

    assert 2 == said().count("was refused: ")


def test_a_refused_file_is_logged_with_its_name_and_the_reason(app, make_token, services, said):
    for is_form in [False, True]:
        client = Client(app, make_token(Role.UPLOAD_ALL, max_file_size=3))
        said()

        answer = client.send_form(("file", "a.txt", b"hello")) if is_form else client.upload(b"hello", "a.txt")

        assert 400 == answer.status_code, is_form
        who, text = services.tokens.fingerprint(client.token), said()
        assert 1 == text.count("WARNING"), is_form
        assert f"file 'a.txt': an upload by token {who} from " in text, is_form
        assert " was refused: File size is too big" in text, is_form
        assert client.token not in text, is_form


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (RuleError(4900, "file", "only_on_sundays"), "was refused: only_on_sundays"),
        (
            UploadCheckError(context={"check": "acme", "message": "the member '\x1b[2K\x1b[1A' is broken"}),
            "the member '\\x1b[2K\\x1b[1A' is broken",
        ),
    ],
    ids=["rule of a plug-in", "quoted content"],
)
def test_the_reason_of_a_refusal_is_logged_and_cannot_forge_lines(
    root, make_collection, monkeypatch, said, error, expected
):
    def run(*_):
        raise error

    monkeypatch.setattr(UploadChecks, "run", run)
    collection = make_collection()
    said()

    root.push(collection, b"hello")

    assert expected in said()


def test_a_form_that_is_refused_before_its_body_arrives_is_logged_with_the_name_in_its_path(app, make_token, said):
    client = Client(app, make_token(Role.UPLOAD_ALL, max_file_size=3))
    said()

    answer = client.send_form(("file", "part.txt", b"x" * (3 << 20)), path="/repository/file/night.txt")

    assert 400 == answer.status_code
    assert "file 'night.txt': an upload by token " in said()


def test_a_request_without_a_token_is_logged(anonymous, said):
    anonymous.get("/repository", environ={"REMOTE_ADDR": "192.0.2.7"})

    assert "refused: list_files from 192.0.2.7, token none" in said()


def test_a_wrong_password_is_logged_without_it(uploader, anonymous, said):
    name = uploader.upload(password="right-5ecre7").json["filename"]
    anonymous.download(name, {"password": "wrong-5ecre7"})

    text = said()
    assert "refused: download_file from " in text
    assert "5ecre7" not in text


def test_an_invalid_token_is_not_in_the_log(app, said):
    Client(app, "no-token-at-all").get("/repository")

    text = said()
    assert "token that is not a UUIDv4" in text
    assert "no-token-at-all" not in text
