"""HTTP API, 5: greeting, version, health, and read-only mode."""

import json
import socket
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

import pytest
from sqlalchemy import event, insert, update
from webtest import TestApp

from frepo_core.db.models import JobRun, JobState, StoredObject
from frepo_core.web import make_app
from support.client import COLLECTIONS, Client, with_settings

CODE = "let-me-see"
HEALTHY = {
    "status": {"storage": True, "database": True, "worker": True, "jobs": True, "collection_problems": True},
    "messages": {"database": [], "storage": [], "worker": [], "jobs": [], "collection_problems": []},
    "global_status": True,
    "ident": [
        "global_status=True",
        "storage=True",
        "database=True",
        "worker=True",
        "jobs=True",
        "collection_problems=True",
    ],
    "jobs": {},
}


def test_the_version_is_a_json_text_and_needs_a_token(holder, anonymous):
    assert json.loads(holder().get("/version").body) == version("frepo-core")
    assert anonymous.get("/version").status_int == 403
    assert anonymous.get("/").status_int == 200


@with_settings(health_check__code=CODE)
def test_a_healthy_service_is_reported(anonymous):
    answer = anonymous.get("/health", {"code": CODE})

    assert (answer.status_int, answer.json) == (200, HEALTHY)


@with_settings(health_check__code=CODE)
def test_the_last_run_of_a_job_is_reported(anonymous, services):
    at = datetime(2026, 5, 2, 3, 45, tzinfo=UTC)
    state = {"name": "samples", "schedule": "5 0 * * *", "next_at": at.replace(day=3)}
    run = {"name": "samples", "lane": "short", "epoch": 1, "holder": "a", "cause": "schedule", "started_at": at}
    run |= {"ended_at": at.replace(minute=46), "outcome": "good", "summary": {"collections": 3}}

    def insert_rows(session):
        session.execute(insert(JobState), [state])
        session.execute(insert(JobRun), [run])

    services.database.write(insert_rows)
    answer = anonymous.get("/health", {"code": CODE})

    assert answer.json["jobs"] == {
        "samples": {
            "started_at": "2026-05-02T03:45:00Z",
            "ended_at": "2026-05-02T03:46:00Z",
            "outcome": "good",
            "found": {"collections": 3},
            "error": None,
            "failing_since": None,
            "next_at": "2026-05-03T03:45:00Z",
        }
    }


@with_settings(health_check__code=CODE)
def test_health_requires_its_code(anonymous):
    for code in ["", "wrong", CODE.upper(), CODE + " ", "\N{SNOWMAN}"]:
        answer = anonymous.get("/health", {"code": code})
        assert (answer.status_int, answer.json["error_code"]) == (403, 403), code
        assert "No access: the parameter code must be the value of HEALTH_CHECK_CODE" in answer.text, code

    assert anonymous.get("/health").status_int == 403


def test_health_is_refused_if_no_code_is_configured(anonymous, root):
    for code in ["", "None", "x"]:
        assert anonymous.get("/health", {"code": code}).status_int == 403, code
    assert root.get("/health").status_int == 403


@pytest.fixture
def unmount(tmp_path):
    """Move the storage's root away, as if its disk were no longer mounted."""
    (tmp_path / "storage").mkdir()
    return lambda: (tmp_path / "storage").rename(tmp_path / "unmounted")


@with_settings(health_check__code=CODE, fs__local__lazy_root="false")
def test_a_broken_storage_is_reported(unmount, anonymous):
    unmount()
    answer = anonymous.get("/health", {"code": CODE})

    assert (answer.status_int, answer.json["status"]) == (
        503,
        {"storage": False, "database": True, "worker": True, "jobs": True, "collection_problems": True},
    )
    assert (answer.json["global_status"], len(answer.json["messages"]["storage"])) == (False, 1)
    assert answer.json["ident"] == [
        "global_status=False",
        "storage=False",
        "database=True",
        "worker=True",
        "jobs=True",
        "collection_problems=True",
    ]


@with_settings(health_check__code=CODE)
def test_a_broken_database_is_reported(anonymous, break_database):
    break_database()
    answer = anonymous.get("/health", {"code": CODE})

    assert (answer.status_int, answer.json["status"]) == (
        503,
        {"storage": True, "database": False, "worker": False, "jobs": False, "collection_problems": False},
    )
    assert len(answer.json["messages"]["database"]) == 1


@pytest.fixture
def break_database(services, tmp_path):
    """Give the service a database that cannot be opened: a folder, or a closed port."""
    engine = services.database.engine

    def elsewhere(dialect, record, arguments, parameters):
        parameters |= {"host": "127.0.0.1", "port": closed_port()}
        parameters.pop("unix_socket", None)

    def do():
        engine.dispose()
        if engine.dialect.name == "sqlite":
            (tmp_path / "frepo.db").unlink()
            (tmp_path / "frepo.db").mkdir()
        else:
            event.listen(engine, "do_connect", elsewhere)

    yield do
    if event.contains(engine, "do_connect", elsewhere):
        event.remove(engine, "do_connect", elsewhere)


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def test_an_unavailable_database_is_a_503(uploader, break_database):
    break_database()
    answer = uploader.upload()

    assert (answer.status_int, answer.json["http_code"]) == (503, 503)
    assert "Retry-After" in answer.headers


@with_settings(fs__local__lazy_root="false")
def test_an_unavailable_storage_is_a_503(unmount, uploader):
    unmount()
    answer = uploader.upload()

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016103)
    assert "Retry-After" in answer.headers


def test_a_download_from_a_storage_that_is_no_longer_installed_is_a_503(uploader, services, caplog):
    name = uploader.upload().json["filename"]
    with services.database.engine.begin() as connection:
        connection.execute(update(StoredObject).values(storage="barrel"))
    answer = uploader.download(name)

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016103)
    assert "'barrel', which holds some of the blobs" in caplog.text


@with_settings(fs__local__lazy_root="false")
def test_a_download_from_an_unavailable_storage_is_a_503(unmount, uploader):
    name = uploader.upload().json["filename"]
    unmount()
    answer = uploader.download(name)

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016103)


@with_settings(fs__local__lazy_root="false")
def test_the_error_of_a_storage_is_logged_and_not_sent(unmount, uploader, tmp_path, caplog):
    name = uploader.upload().json["filename"]
    unmount()
    answers = [uploader.upload(b"other").text, uploader.download(name).text]

    assert [False, False] == [str(tmp_path) in answer for answer in answers]
    assert str(tmp_path) in caplog.text


WRITES = [
    ("POST", "/repository/file/upload"),
    ("POST", "/repository/file/a.txt"),
    ("DELETE", "/repository/file/a.txt"),
    ("POST", "/auth/token/generate"),
    ("DELETE", "/auth/token/x"),
    ("GET", "/jobs/token/expired/clear"),
    ("POST", COLLECTIONS),
    ("PUT", COLLECTIONS),
]
WRITES_IN_A_COLLECTION = [
    ("DELETE", ""),
    ("POST", "/token"),
    ("DELETE", "/token/x"),
    ("POST", "/backup"),
    ("POST", "/version"),
    ("DELETE", "/backup/v1"),
]


@with_settings(read_only="true")
def test_every_write_is_refused_in_read_only_mode(root):
    for method, path in WRITES:
        answer = root.call(method, path)

        assert (answer.status_int, answer.json["error_code"], answer.json["http_code"]) == (503, 5000001, 503), method


def test_only_reading_works_in_read_only_mode_in_a_collection(read_only, collection):
    for method, path in WRITES_IN_A_COLLECTION:
        answer = read_only.call(method, f"{COLLECTIONS}/{collection}{path}")
        assert (answer.status_int, answer.json["error_code"]) == (503, 5000001), method

    for path in ["", "/backup"]:
        assert read_only.get(f"{COLLECTIONS}/{collection}{path}").status_int == 200, path


@pytest.fixture
def read_only(collection, root, services):
    """The administrator of the same service after a restart in read-only mode."""
    settings = services.settings.model_copy(update={"read_only": True})
    return Client(TestApp(make_app(replace(services, settings=settings))), root.token)
