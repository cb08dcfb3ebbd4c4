"""What a start does not do: each import and each look for garbage is time that every command takes."""

import json
import subprocess
import sys

import pytest

COMMAND = """if True:
    import json, sys
    from frepo_core.cli.app import main
    status = main(sys.argv[1:])
    print(json.dumps(sorted(sys.modules)))
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
    modules = started(COMMAND, "--help")

    assert not {"sqlalchemy", "pyramid", "alembic", "pydantic", "boto3", "cmd2", "argon2"} & set(modules)


def test_a_command_does_not_import_the_web_application(started):
    modules = started(COMMAND, "auth:generate-admin-token")

    assert not {"pyramid", "webob", "frepo_core.web"} & set(modules)


def test_a_service_looks_for_garbage_when_it_is_built_and_not_in_what_it_is_built_of(started):
    looked, frozen, is_enabled, _ = started(SERVICE)

    assert looked <= 1  # which Python 3.12 had begun before
    assert frozen > 50_000
    assert is_enabled


def test_a_service_loads_what_uploads_need_before_the_first_comes(started):
    """What is broken there keeps it from starting, instead of failing each upload."""
    *_, has_magic = started(SERVICE)

    assert has_magic
