"""Startup time: each import and each garbage collection slows every command down."""

import json
import sqlite3
import subprocess
import sys

import pytest

START = """if True:
    import frepo_core
    frepo_core.main({}, **{"app.env": "test", "read_only": "true"})"""
COMMAND = """if True:
    import json, sys
    from frepo_core.script import main
    status = main(sys.argv[1:])
    print(json.dumps(sorted(sys.modules)))
    sys.exit(status)"""
STATUS = """if True:
    import json, sys
    from functools import cached_property
    from frepo_core.script import main
    from frepo_core.services.composition import assembly
    assemble, made = assembly.assemble, []
    assembly.assemble = lambda *given, features: made.append(assemble(*given, features=features)) or made[0]
    main(sys.argv[1:])
    built = [name for name in vars(made[0]) if isinstance(getattr(type(made[0]), name, None), cached_property)]
    print(json.dumps([built, sorted(sys.modules)]))"""
GARBAGE = """if True:
    import atexit, gc, json, sys
    from frepo_core.script import main
    before = gc.get_stats()[0]["collections"]
    atexit.register(lambda: print(json.dumps([looked, gc.isenabled(), len(gc.get_objects())])))
    status = main(sys.argv[1:])
    looked = gc.get_stats()[0]["collections"] - before
    sys.exit(status)"""
THIRD_PARTY = """if True:
    import gc
    from frepo_core.cli import FrepoCommand
    class Work(FrepoCommand):
        def take_action(self, arguments):
            self.say(str(gc.isenabled()))"""
SERVICE = """if True:
    import gc, json, sys
    import frepo_core
    before = gc.get_stats()[0]["collections"]
    frepo_core.main({}, **{"app.env": "test", "database.auto_upgrade": "true"})
    looked = gc.get_stats()[0]["collections"] - before
    print(json.dumps([looked, gc.get_freeze_count(), gc.isenabled(), sorted(sys.modules)]))"""
MODELS = """if True:
    import json
    import frepo_core
    frepo_core.main({}, **{"app.env": "test", "database.auto_upgrade": "true"})
    from frepo_core.web.schemas.models import Form, Query, Reply
    models = [model for base in (Form, Query, Reply) for model in base.__subclasses__()]
    print(json.dumps([len(models), sum(model.__pydantic_complete__ for model in models)]))"""

FROZEN = """if True:
    import json, sys
    from types import FunctionType
    import frepo_core
    frepo_core.main({}, **{"app.env": "test", "database.auto_upgrade": "true"})
    def methods(kind):
        return [value.__code__ for value in vars(kind).values() if isinstance(value, FunctionType)]
    made = {code for name, module in list(sys.modules.items()) if name.startswith("frepo_core")
            for kind in list(vars(module).values()) if isinstance(kind, type) and kind.__module__ == name
            for code in methods(kind) if code.co_filename == "<string>"}
    print(json.dumps(len(made)))"""


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

    heavy = {"cliff", "sqlalchemy", "pyramid", "alembic", "pydantic", "boto3", "argon2"}
    if sys.version_info < (3, 12):  # its `importlib.metadata` imports this itself
        heavy.add("inspect")
    assert not heavy & set(modules)


@pytest.mark.costly
def test_a_command_does_not_import_the_web_application(started):
    modules = started(COMMAND, "auth:generate-admin-token")

    assert not {"pyramid", "webob", "frepo_core.web"} & set(modules)


@pytest.mark.costly
@pytest.mark.parametrize("command", ["auth:list", "auth:create-token"])
def test_a_command_for_tokens_imports_only_their_services(started, command):
    modules = started(COMMAND, command, *(["--roles", "upload.all"] if command == "auth:create-token" else []))

    assert {"frepo_core.services.access.tokens", "frepo_core.services.access.token_inventory"} & set(modules)
    assert not {"frepo_core.services.files.files", "frepo_core.services.reports.health"} & set(modules)


def test_the_status_builds_only_the_services_that_it_asks(started):
    built, modules = started(STATUS, "status")

    assert {"health", "collection_states", "restore_ages", "figures"} == set(built)
    services = {
        name.removeprefix("frepo_core.services.") for name in modules if name.startswith("frepo_core.services.")
    }
    assert not {"upkeep.engine.worker", "content.remote.fetcher", "composition.builtin_jobs", "files.files"} & services
    assert len(services) <= 120  # of more than 350
    unused = {"frepo_parts.formats.pg_dump", "frepo_notify.delivery", "frepo_core.features.compact.encodings.decoder"}
    assert not unused & set(modules)


@pytest.mark.parametrize("command", ["restore", "backup:list"])
def test_what_lists_backups_imports_nothing_of_uploads_and_of_rotation(started, command):
    modules = started(COMMAND, command)

    nouns = "content.ingest content.mime_detection content.spool access.passwords backups.trash.restoration "
    nouns += "backups.rotation.decision content.blobs.stored_content"
    assert not {f"frepo_core.services.{noun}" for noun in nouns.split()} & set(modules)


@pytest.mark.costly
def test_a_command_collects_garbage_only_after_its_start(started):
    looked, is_enabled, left_for_exit = started(GARBAGE, "auth:list")

    assert looked < 30
    assert is_enabled
    assert left_for_exit < 1000


def test_a_command_of_a_third_party_collects_garbage(console, install_package):
    (console.folder / "acme.py").write_text(THIRD_PARTY)
    environment = install_package("[frepo.commands]\nacme:work = acme:Work\n")

    assert console.run_script("acme:work", PYTHONPATH=environment["PACKAGES"]).stdout == "True\n"


@pytest.mark.costly
def test_a_command_closes_its_connections_to_the_database(console):
    console.run_script("auth:list")

    assert not list(console.folder.glob("frepo.db-*"))  # the last connection removes SQLite's write-ahead log


@pytest.mark.costly
def test_startup_collects_garbage_once_at_most(started):
    looked, frozen, is_enabled, _ = started(SERVICE)

    assert looked <= 1  # Python 3.12 may have started one before
    assert frozen > 50_000
    assert is_enabled


@pytest.mark.costly
def test_the_service_loads_the_libraries_of_uploads_at_startup(started):
    """A broken library then stops the start instead of failing each upload."""
    *_, modules = started(SERVICE)

    assert "magic" in modules


@pytest.mark.costly
def test_a_service_imports_no_format_of_parts_and_no_plan_before_it_needs_one(started):
    *_, modules = started(SERVICE)

    unused = {"frepo_parts.formats.pg_dump", "frepo_core.features.compact.compaction", "cryptography", "yaml"}
    assert not unused & set(modules)


@pytest.mark.costly
def test_a_service_imports_features_checks_and_jobs_when_they_are_used(started):
    *_, modules = started(SERVICE)

    unused = {
        "frepo_core.features.fleet.planning",
        "frepo_core.features.restore_tests.box.session",
        "frepo_core.services.upkeep.storage.sweep",
        "frepo_integrity.inspection",
    }
    assert not unused & set(modules)
    assert len([name for name in modules if name.startswith("frepo_")]) < 770  # 849 with all
    assert {"lz4.frame", "lzma"} <= set(modules)  # a broken library stops the start instead of failing each upload


@pytest.mark.costly
def test_a_service_on_sqlite_imports_no_driver_of_another_database(started):
    *_, modules = started(SERVICE)

    assert not {"psycopg", "pymysql"} & set(modules)


@pytest.mark.costly
def test_a_service_without_a_bucket_imports_no_client_of_buckets(started):
    *_, modules = started(SERVICE)

    assert not {"boto3", "botocore", "urllib3"} & set(modules)


@pytest.mark.costly
def test_the_models_of_most_requests_are_built_when_they_are_first_used(started):
    models, built = started(MODELS)

    assert models > 100
    assert built < 20


@pytest.mark.costly
def test_a_start_compiles_one_method_for_most_dataclasses(started):
    assert started(FROZEN) < 1000  # 1,540 with six for each


@pytest.mark.costly
def test_a_service_warns_at_its_start_about_a_strategy_that_is_not_installed(console):
    ids = [console.answer("backup:create-collection", "-f", name) for name in "ab"]
    with sqlite3.connect(console.database) as database:
        database.execute("UPDATE collection SET strategy = 'keep_first' WHERE id = ?", ids[:1])
    database.close()

    done = subprocess.run(
        [sys.executable, "-c", START],
        env=console.environment,
        cwd=console.folder,
        capture_output=True,
        text=True,
        check=True,
    )

    (line,) = [line for line in done.stderr.splitlines() if "keep_first" in line]
    assert line.startswith("No installed package provides the strategy 'keep_first'")
    assert [True, False] == [one in line for one in ids]
