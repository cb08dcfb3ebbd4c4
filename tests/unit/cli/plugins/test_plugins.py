"""`frepo plugins`: what each plug-in offers, what is in use, and the settings of one."""

import json

import pytest

MODULE = """
from frepo_core import plugins
from frepo_core.plugins import hookimpl
from pydantic import Field, SecretStr

class Settings(plugins.PluginSettings):
    colour: str = Field("red", description="The colour.")
    key: SecretStr = Field(SecretStr("5ecre7"), description="The key.")
    size: int = Field(description="The size.")
    on_finding: str = "off"

@hookimpl
def frepo_settings():
    return plugins.SettingsSpec(prefix="acme", model=Settings)

@hookimpl
def frepo_upload_checks():
    return [plugins.UploadCheck(name="paint", run=print, on_finding=lambda settings: settings.on_finding)]

@hookimpl
def frepo_subscribers(context):
    return [plugins.Subscriber(name=context.settings.colour, kinds=["version.*"], handle=print)]

@hookimpl
def frepo_jobs():
    return [plugins.Job(name="dry", schedule="off", run=print, summary="dries")]

@hookimpl
def frepo_metrics(context):
    raise RuntimeError("not called")

@hookimpl
def frepo_event_kinds():
    return [plugins.PluginEventKind(name="paint.dried", sentence="The paint has dried.")]

@hookimpl
def frepo_tables():
    raise RuntimeError("not called")
"""


@pytest.fixture
def acme(console, install_package):
    (console.folder / "acme.py").write_text(MODULE)
    return install_package("[frepo]\npaint = acme\n[frepo.commands]\npaint:dry = acme:Dry\n")


def rows(console, *arguments, **environment):
    return json.loads(console.answer("plugins", *arguments, "-f", "json", **environment))


def test_everything_that_a_plugin_offers_is_listed_with_its_entry_point(console, acme):
    mine = [row for row in rows(console, ACME_SIZE="3", **acme) if row["Package"] == "frepo-acme"]

    assert [
        ("command", "paint:dry", "yes", "paint:dry"),
        ("event kind", "paint.dried", "yes", "paint"),
        ("job", "dry", "no", "paint"),
        ("metrics", "paint", "yes", "paint"),
        ("settings", "acme", "yes", "paint"),
        ("subscriber", "red", "yes", "paint"),
        ("tables", "paint", "yes", "paint"),
        ("upload check", "paint", "no", "paint"),
    ] == [(row["Kind"], row["Name"], row["In use"], row["Entry point"]) for row in mine]
    assert {"1.0"} == {row["Version"] for row in mine}


def test_a_check_that_is_switched_on_is_in_use(console, acme):
    listed = rows(console, ACME_SIZE="3", ACME_ON_FINDING="refuse", **acme)

    (check,) = [row for row in listed if row["Kind"] == "upload check" and row["Package"] == "frepo-acme"]
    assert ("yes", "of versions; findings: refuse") == (check["In use"], check["What it is"])


def test_the_options_of_a_strategy_are_shown_with_their_defaults(console, install_package):
    (console.folder / "thinning.py").write_text(
        """
from frepo_core import plugins

class Options(plugins.StrategyOptions):
    keep: int = 3
    label: str = "none"

class Thin(plugins.CollectionStrategy):
    def make_room(self, collection, incoming):
        return ()

@plugins.hookimpl
def frepo_strategies():
    return [plugins.StrategySpec(name="thin", build=Thin, summary="thins", options=Options)]
"""
    )
    environment = install_package("[frepo]\nthin = thinning\n")

    shown = {row["Name"]: row["What it is"] for row in rows(console, **environment) if row["Kind"] == "strategy"}

    assert "thins (options: keep=3, label=none)" == shown["thin"]
    assert "a full collection refuses new versions" == shown["alert_when_backup_limit_reached"]


def test_wrong_settings_are_reported_and_the_rest_is_listed(console, acme):
    done = console.run("plugins", "-f", "json", **acme)

    assert (0, True) == (done.returncode, "Setting acme.size (ACME_SIZE): is required but not set" in done.stderr)
    assert "paint" in {row["Name"] for row in json.loads(done.stdout)}


def test_the_settings_of_a_plugin_are_listed_without_their_secrets(console, acme):
    listed = rows(console, "--settings", "paint", **acme)

    assert [
        ("acme.colour", "ACME_COLOUR", "red", "The colour."),
        ("acme.key", "ACME_KEY", "***", "The key."),
        ("acme.size", "ACME_SIZE", "required", "The size."),
        ("acme.on_finding", "ACME_ON_FINDING", "off", ""),
    ] == [tuple(row.values()) for row in listed]


def test_a_plugin_that_does_not_exist_has_no_settings(console):
    refusal = console.refusal("plugins", "--settings", "nowhere")

    assert "No installed plug-in is named 'nowhere'. Installed: " in refusal


def test_a_mistake_of_the_installation_is_reported(console):
    done = console.run("plugins", PLUGINS_DISABLED="lcoal")

    assert (0, True) == (done.returncode, "plugins.disabled names 'lcoal'" in done.stderr)


def test_plugins_need_no_ini_and_no_database(new_console):
    listed = new_console.answer("plugins", FREPO_INI="", DATABASE_URL="")

    assert "local" in listed
    assert not new_console.database.exists()


def test_plugins_can_be_read_by_programs(console):
    rows = json.loads(console.answer("plugins", "-f", "json", FREPO_INI=""))

    assert {"Kind": "storage", "Name": "local", "In use": "yes", "Package": "frepo-storage-local"}.items() <= next(
        row for row in rows if (row["Kind"], row["Name"]) == ("storage", "local")
    ).items()
    assert {row["Name"] for row in rows if row["Kind"] == "strategy"} == {
        "alert_when_backup_limit_reached",
        "delete_oldest_when_adding_new",
        "keep",
        "wal",
    }


def test_the_configured_storage_is_marked_as_in_use(console):
    rows = json.loads(console.answer("plugins", "-f", "json", FS_ADAPTER="awss3v3"))

    assert [row["Name"] for row in rows if row["Kind"] == "storage" and row["In use"] == "yes"] == ["awss3v3"]

    named = {"STORAGES": "here there", "STORAGE_HERE_ADAPTER": "ftp", "STORAGE_THERE_ADAPTER": "awss3v3"}
    rows = json.loads(console.answer("plugins", "-f", "json", FS_ADAPTER="here", **named))

    assert [row["Name"] for row in rows if row["Kind"] == "storage" and row["In use"] == "yes"] == ["awss3v3", "ftp"]


def test_a_plugin_that_is_switched_off_is_not_listed(console):
    rows = json.loads(console.answer("plugins", "-f", "json", PLUGINS_DISABLED="local"))

    assert "local" not in {row["Name"] for row in rows}


def test_a_named_ini_file_must_exist(console):
    assert "nowhere.ini" in console.refusal("--ini", "nowhere.ini", "plugins")


def test_a_plugin_that_cannot_be_loaded_is_named(console, install_package):
    environment = install_package("[frepo]\nbroken = no_such_module\n")

    refusal = console.refusal("plugins", **environment)

    assert "frepo-acme" in refusal


def test_the_table_fits_on_a_terminal(console):
    for arguments in [[], *(["--settings", name] for name in ("local", "awss3v3", "integrity", "notify"))]:
        widths = {len(line) for line in console.answer("plugins", *arguments).splitlines()}

        assert max(widths) <= 120


def test_the_table_is_as_wide_as_the_terminal_allows(console):
    narrow, wide = (
        {len(line) for line in console.answer("plugins", COLUMNS=size).splitlines()} for size in ("110", "200")
    )

    assert max(narrow) <= 110 < max(wide)


def test_the_table_has_the_columns_for_people_and_programs_get_all(console):
    header = console.answer("plugins").splitlines()[1]

    assert ["Kind", "Name", "In use", "Package", "What it is"] == [
        name.strip() for name in header.strip("|").split("|")
    ]
    assert {"Entry point", "Version"} <= rows(console)[0].keys()
    assert "| strategies " in console.answer("plugins", "-c", "Name", "-c", "Entry point")


def test_the_table_of_settings_shows_each_variable_below_its_setting(console):
    lines = [line.split("|")[1].strip() for line in console.answer("plugins", "--settings", "local").splitlines()[3:-1]]

    listed = rows(console, "--settings", "local")
    assert [text for row in listed for text in (row["Setting"], row["Variable"])] == [line for line in lines if line]
    assert "| FS_LOCAL_DIRECTORY " in console.answer("plugins", "--settings", "local", "-c", "Variable")
    assert "FS_LOCAL" not in console.answer("plugins", "--settings", "local", "-c", "Setting")
    assert "\n" not in console.answer("plugins", "--settings", "local", "-f", "csv", "-c", "Setting").splitlines()[1]
