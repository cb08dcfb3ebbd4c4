"""`frepo doctor`."""

import json
import sqlite3
from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.db.models import Content, Lease, StoredObject
from frepo_core.domain.naming import new_blob_key
from frepo_core.services.base.lease import LEADER

CHECKS = ["versions", "settings", "secrets", "permissions", "database", "clock"]
CHECKS += ["strategies", "storage", "copies", "fires", "compact", "disk", "safe", "trash", "proxy", "upkeep", "notify"]


@pytest.fixture
def examine(console):
    console.answer("auth:generate-admin-token")

    def examine(**environment):
        done = console.run("doctor", "-f", "json", **environment)
        assert "Traceback" not in done.stderr
        return done.returncode, json.loads(done.stdout)

    return examine


def found(rows, check):
    return [(row["State"], row["What was found"]) for row in rows if row["Check"] == check]


def test_a_sound_installation_has_no_problem(examine):
    status, rows = examine(READ_ONLY="true")

    assert CHECKS == list(dict.fromkeys(row["Check"] for row in rows))
    assert (status, [row for row in rows if row["State"] == "problem"]) == (0, [])


def test_a_service_that_has_not_run_yet_is_a_warning_and_the_exit_status_0(examine):
    status, rows = examine()

    [(state, message)] = found(rows, "upkeep")
    assert (status, state) == (0, "warning")
    assert "no service has run with this database yet" in message


def test_a_service_without_a_worker_is_a_problem_and_the_exit_status_1(services, examine):
    expired = Lease(name=LEADER, epoch=1, renewals=1, expires_at=utc_now() - timedelta(hours=1))
    services.database.write(lambda session: session.add(expired))

    status, rows = examine()

    [(state, message)] = found(rows, "upkeep")
    assert (status, state) == (1, "problem")
    assert "No worker leads" in message


def test_wrong_settings_end_the_examination(examine):
    status, rows = examine(FS_ADAPTER="none")

    assert (status, [row["Check"] for row in rows]) == (1, ["versions", "settings"])
    assert "FS_ADAPTER" in rows[-1]["What was found"]
    assert rows[-1]["What to do"]


def test_each_problem_is_found_and_says_what_to_do(examine):
    for environment, check, message in [
        ({"APP_SECRET": "5ecre7"}, "secrets", "app.secret (APP_SECRET) is short"),
        ({"APP_SECRET": "ab" * 40}, "secrets", "few different characters"),
        ({"HEALTH_CHECK_CODE": "1234"}, "secrets", "HEALTH_CHECK_CODE"),
        ({"ENC_TOKEN_PHRASE": "0123456789abcdef" * 4}, "database", "is not the phrase"),
        ({"TRUSTED_PROXIES": "127.0.0.1 0.0.0.0/0"}, "proxy", "contains 0.0.0.0/0"),
        ({"FS_LOCAL_DIRECTORY": "/proc/none"}, "storage", "/proc/none"),
        ({"TRASH_KEEP": "0"}, "trash", "nothing can be given back"),
        ({"DATABASE_URL": "sqlite:////proc/none/frepo.db"}, "database", "database"),
    ]:
        _, rows = examine(**environment)

        bad = [row for row in rows if row["Check"] == check and row["State"] != "ok"]
        assert message in bad[0]["What was found"]
        assert bad[0]["What to do"], environment


def test_a_file_with_a_secret_that_others_can_read_is_a_problem(console, examine, tmp_path):
    ini = tmp_path / "own.ini"
    ini.write_text("[app:main]\nuse = egg:frepo-core\napp.env = test\nhealth_check.code = 0123456789abcdef\n")
    for file, more in ((console.folder / "secrets.json", {}), (ini, {"FREPO_INI": str(ini)})):
        file.chmod(0o644)
        _, rows = examine(**more)
        assert f"chmod 600 {file}" in json.dumps(rows)


def test_a_version_of_the_future_shows_a_wrong_clock(console, examine):
    collection = console.answer("backup:create-collection", "-f", "a")
    console.answer("backup:upload", collection, "-", stdin="content")
    with sqlite3.connect(console.database) as database:
        database.execute(
            "UPDATE version SET created_at = ?", [(utc_now() + timedelta(days=2)).replace(tzinfo=None).isoformat(" ")]
        )
    database.close()

    _, rows = examine()

    assert "in the future" in found(rows, "clock")[0][1]


def test_a_strategy_that_is_not_installed_is_a_problem_and_the_collections_are_named(console, examine):
    ids = sorted(console.answer("backup:create-collection", "-f", name) for name in "abcde")
    with sqlite3.connect(console.database) as database:
        database.execute("UPDATE collection SET strategy = 'keep_first' WHERE id <> ?", [ids[2]])
    database.close()

    _, rows = examine()

    [(state, message)] = found(rows, "strategies")
    assert "problem" == state
    assert "the strategy 'keep_first'" in message
    assert message.endswith(f": {ids[0]}, {ids[1]}, {ids[3]} and 1 more")


def test_options_that_do_not_fit_the_strategy_are_a_problem_with_collection_and_field(console, examine):
    options = ["--strategy", "keep", "--strategy-options", '{"last": 1}']
    collection = console.answer("backup:create-collection", "-f", "a", *options)
    with sqlite3.connect(console.database) as database:
        database.execute("UPDATE collection SET strategy_options = '{\"last\": -1}'")
    database.close()

    _, rows = examine()

    [(state, message)] = found(rows, "strategies")
    assert "problem" == state
    assert collection in message
    assert "strategy_options.last" in message


def test_damaged_blobs_are_a_problem(console, examine):
    collection = console.answer("backup:create-collection", "-f", "a")
    console.answer("backup:upload", collection, "-", stdin="content")
    with sqlite3.connect(console.database) as database:
        database.execute("UPDATE object SET state = 'damaged'")
    database.close()

    _, rows = examine()

    assert ("problem", "1 blob is damaged, storage:verify lists them") in found(rows, "storage")


def test_a_storage_that_does_not_answer_is_named_once_and_nothing_is_logged(console, examine):
    settings = {"BUCKET": "backups", "ENDPOINT": "http://127.0.0.1:9", "KEY": "key", "SECRET": "s"}
    console.environment |= {"FS_ADAPTER": "awss3v3"} | {f"FS_AWSS3V3_{name}": settings[name] for name in settings}

    done = console.run("doctor", "-f", "json", READ_ONLY="true")

    [bad] = [row for row in json.loads(done.stdout) if row["State"] == "problem"]
    assert "storage" == bad["Check"]
    assert "The S3 storage does not answer" in bad["What was found"]
    assert "fs.awss3v3.*" in bad["What to do"]
    assert "" == done.stderr


def test_too_little_room_for_the_trash_is_a_problem_of_the_core(console, examine):
    collection = console.answer("backup:create-collection", "-f", "a")
    console.answer("backup:upload", collection, "-", stdin="content")  # makes the folder of the storage

    _, rows = examine(TRASH_MIN_FREE="1000 TB")

    [bad] = [row for row in rows if row["Check"] == "storage"]
    assert "trash.min_free requires" in bad["What was found"]
    assert "trash.keep" in bad["What to do"]


@pytest.fixture
def older_blobs(services):
    """Blobs in storages that get no new ones: one without a package, one without its settings."""
    for number, storage in enumerate(("gone", "awss3v3")):
        digest = f"{number}" * 64
        content = Content(digest=digest, size=1, mime="text/plain", created_at=utc_now())
        place = {"storage": storage, "key": new_blob_key(digest), "state": "present", "slot": 1, "since": utc_now()}

        def work(session, content=content, place=place):
            session.add(content)
            session.flush()
            session.add(StoredObject(content_id=content.id, digest=content.digest, size=1, **place))

        services.database.write(work)


def test_a_storage_that_only_older_blobs_name_is_looked_at(examine, older_blobs):
    status, rows = examine()

    bad = {message for state, message in found(rows, "storage") if state == "problem"}
    assert 1 == status
    assert any("'gone' holds 1 older blobs, which cannot be read" in message for message in bad)
    assert any("FS_AWSS3V3_BUCKET" in message for message in bad)
