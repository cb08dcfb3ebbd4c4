from support.paths import ROOT

PRODUCTION = {
    "FREPO_INI": str(ROOT / "production.ini"),
    "APP_SECRET": "app-5ecre7",
    "ENC_TOKEN_PHRASE": "phrase-5ecre7",
    "DATABASE_AUTO_UPGRADE": "false",
    "TEMP_DIRECTORY": "/tmp",
}


def test_an_upgrade_reports_its_steps(new_console):
    assert " was made (" in new_console.answer("db:upgrade", DATABASE_AUTO_UPGRADE="false")


def test_an_upgrade_is_safe_to_run_again(console):
    console.answer("db:upgrade")

    assert "is current" in console.answer("db:upgrade")


def test_a_command_that_makes_the_database_says_so(new_console):
    first, second = (new_console.run("auth:list") for _ in range(2))

    said = f"sqlite:///{new_console.database} was empty, its tables were made. If you meant another, set DATABASE_URL."
    assert ([0, 0], said, "") == ([first.returncode, second.returncode], first.stderr.strip(), second.stderr)


def test_an_upgrade_names_the_database(console):
    assert f"sqlite:///{console.database}" in console.answer("db:upgrade")


def test_an_empty_database_needs_a_confirmation_in_production(new_console):
    refusal = new_console.refusal("db:upgrade", **PRODUCTION)
    was_made = new_console.database.exists()
    new_console.answer("db:upgrade", "--create", **PRODUCTION)

    assert (f"sqlite:///{new_console.database}" in refusal, "--create" in refusal, was_made) == (True, True, False)
    assert "is current" in new_console.answer("db:upgrade", **PRODUCTION)


def test_a_misspelt_database_url_is_refused_and_named_in_production(new_console):
    variables = {**PRODUCTION, "DATABASE_URL": "", "DATABSE_URL": f"sqlite:///{new_console.database}?x=a-5ecre7"}
    refusal = new_console.refusal("db:upgrade", "--create", **variables)

    assert "DATABSE_URL is not a setting of frepo. Did you mean DATABASE_URL?" in refusal
    assert "database.url (DATABASE_URL) must be set" in refusal
    assert "a-5ecre7" not in refusal
    assert [] == list(new_console.folder.rglob("*.db"))


def test_a_python_without_sqlite_is_reported(console):
    (console.folder / "_sqlite3.py").write_text(
        "raise ModuleNotFoundError('No module named _sqlite3', name='_sqlite3')"
    )

    refusal = console.refusal("db:upgrade", PYTHONPATH=str(console.folder))

    assert "built without SQLite" in refusal
    assert "bug report" not in refusal
