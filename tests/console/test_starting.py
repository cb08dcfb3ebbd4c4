"""What a start does not do: each import and each look for garbage is time that every command takes."""

import json
import subprocess
import sys

import pytest

COMMAND = """if True:
    import gc, json, sys
    from frepo_core.cli.app import main
    status = main(sys.argv[1:])
    looked = gc.get_stats()[0]["collections"]
    print(json.dumps([sorted(sys.modules), looked, gc.get_freeze_count()]))
    sys.exit(status)"""
SERVICE = """if True:
    import gc, json, sys
    import frepo_core
    before = gc.get_stats()[0]["collections"]
    frepo_core.main({}, **{"app.env": "test", "database.auto_upgrade": "true"})
    looked = gc.get_stats()[0]["collections"] - before
    print(json.dumps([looked, gc.get_freeze_count(), gc.isenabled(), "magic" in sys.modules]))"""


@pytest.fixture
def started(console):
    console.answer("db:upgrade")

    def start(code, *arguments):
        python = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(python, env=console.environment, cwd=console.folder, capture_output=True, check=True)
        return json.loads(done.stdout.splitlines()[-1])

    return start


def test_the_help_imports_nothing_heavy(started):
    modules, _, _ = started(COMMAND, "--help")

    assert not {"sqlalchemy", "pyramid", "alembic", "pydantic", "boto3", "cmd2", "argon2"} & set(modules)


def test_a_command_imports_only_what_it_works_with(started):
    modules, _, _ = started(COMMAND, "auth:generate-admin-token")

    for_the_service = {"pyramid", "alembic", "boto3", "ftplib", "magic", "urllib3", "frepo_core.services.assembly"}
    for_other_databases = {"psycopg", "pymysql", "sqlalchemy.dialects.mysql"}
    assert not {"cmd2", "yaml", *for_the_service, *for_other_databases} & set(modules)


def test_a_command_looks_for_garbage_seldom_and_not_at_its_end(started):
    _, looked, frozen = started(COMMAND, "auth:generate-admin-token")

    assert looked < 60  # by default more than 200; cliff is imported before there is anything to set
    assert frozen > 50_000


def test_a_service_looks_for_garbage_when_it_is_built_and_not_in_what_it_is_built_of(started):
    looked, frozen, is_enabled, _ = started(SERVICE)

    assert looked <= 1  # which Python 3.12 had begun before
    assert frozen > 50_000
    assert is_enabled


def test_a_service_loads_what_uploads_need_before_the_first_comes(started):
    """What is broken there keeps it from starting, instead of failing each upload."""
    *_, has_magic = started(SERVICE)

    assert has_magic
