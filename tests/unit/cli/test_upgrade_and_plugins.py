import json

from support.paths import ROOT

PRODUCTION = {
    "FREPO_INI": str(ROOT / "production.ini"),
    "APP_SECRET": "app-5ecre7",
    "ENC_TOKEN_PHRASE": "phrase-5ecre7",
    "DATABASE_AUTO_UPGRADE": "false",
    "TEMP_DIRECTORY": "/tmp",
}


def test_an_upgrade_reports_its_steps(console):
    assert "went from nothing to" in console.answer("db:upgrade", DATABASE_AUTO_UPGRADE="false")


def test_an_upgrade_is_safe_to_run_again(console):
    console.answer("db:upgrade")

    assert "is current" in console.answer("db:upgrade")


def test_an_upgrade_names_the_database(console):
    assert f"sqlite:///{console.database}" in console.answer("db:upgrade")


def test_an_empty_database_needs_a_confirmation_in_production(console):
    refusal = console.refusal("db:upgrade", **PRODUCTION)
    was_made = console.database.exists()
    console.answer("db:upgrade", "--create", **PRODUCTION)

    assert (f"sqlite:///{console.database}" in refusal, "--create" in refusal, was_made) == (True, True, False)
    assert "is current" in console.answer("db:upgrade", **PRODUCTION)


def test_a_misspelt_database_url_is_refused_and_named_in_production(console):
    variables = {**PRODUCTION, "DATABASE_URL": "", "DATABSE_URL": f"sqlite:///{console.database}?x=a-5ecre7"}
    refusal = console.refusal("db:upgrade", "--create", **variables)

    assert "DATABSE_URL is not a setting of frepo. Did you mean DATABASE_URL?" in refusal
    assert "database.url (DATABASE_URL) must be set" in refusal
    assert "a-5ecre7" not in refusal
    assert [] == list(console.folder.rglob("*.db"))


def test_plugins_need_no_ini_and_no_database(console):
    listed = console.answer("plugins", FREPO_INI="", DATABASE_URL="")

    assert "local" in listed
    assert not console.database.exists()


def test_plugins_can_be_read_by_programs(console):
    rows = json.loads(console.answer("plugins", "-f", "json", FREPO_INI=""))

    assert {"Kind": "storage", "Name": "local", "In use": "yes", "Package": "frepo-storage-local"}.items() <= next(
        row for row in rows if row["Name"] == "local"
    ).items()
    assert {row["Name"] for row in rows if row["Kind"] == "strategy"} == {
        "alert_when_backup_limit_reached",
        "delete_oldest_when_adding_new",
    }


def test_the_configured_storage_is_marked_as_in_use(console):
    rows = json.loads(console.answer("plugins", "-f", "json", FS_ADAPTER="awss3v3"))

    assert [row["Name"] for row in rows if row["Kind"] == "storage" and row["In use"] == "yes"] == ["awss3v3"]


def test_a_plugin_that_is_switched_off_is_not_listed(console):
    rows = json.loads(console.answer("plugins", "-f", "json", PLUGINS_DISABLED="local"))

    assert "local" not in {row["Name"] for row in rows}


def test_a_named_ini_file_must_exist(console):
    assert "nowhere.ini" in console.refusal("--ini", "nowhere.ini", "plugins")


def test_a_plugin_that_cannot_be_loaded_is_named(console, install_package):
    environment = install_package("[frepo]\nbroken = no_such_module\n")

    refusal = console.refusal("plugins", **environment)

    assert "frepo-acme" in refusal


def test_a_python_without_sqlite_is_reported(console):
    (console.folder / "_sqlite3.py").write_text(
        "raise ModuleNotFoundError('No module named _sqlite3', name='_sqlite3')"
    )

    refusal = console.refusal("db:upgrade", PYTHONPATH=str(console.folder))

    assert "built without SQLite" in refusal
    assert "bug report" not in refusal
