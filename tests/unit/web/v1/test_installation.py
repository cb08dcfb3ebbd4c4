"""What is installed and in force, in /api/v1: plug-ins, settings and storages."""

from pydantic import SecretStr

from frepo_core.domain.identity import Actor
from frepo_core.errors import StorageFull
from frepo_core.features.inventory.setting_texts import is_harmless
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.content.storages.storage_troubles import StorageStates
from frepo_core.settings.model import Settings
from support.client import with_settings

SETTINGS, PLUGINS, STORAGES = "/api/v1/settings", "/api/v1/plugins", "/api/v1/storages"


def by_name(answer):
    return {item["name"]: item for item in answer.json["items"]}


def test_settings_are_listed_with_their_values_and_sources(root, ini):
    found = by_name(root.get(SETTINGS))

    directory, versions = found["fs.local.directory"], found["backup.max_versions"]
    assert ("FS_LOCAL_DIRECTORY", ini["fs.local.directory"], "ini file", "frepo-storage-local") == tuple(
        directory[name] for name in ("variable", "value", "source", "package")
    )
    assert ("0", "0", "default", "frepo-core") == tuple(
        versions[name] for name in ("value", "default", "source", "package")
    )
    assert ("test", "prod", "ini file") == tuple(found["app.env"][name] for name in ("value", "default", "source"))


@with_settings(
    jobs__samples="every 3h",
    jobs__timezone="Europe/Warsaw",
    events__keep="4w",
    fs__local__file_permissions="600",
)
def test_schedules_durations_and_modes_are_written_as_in_the_ini_file(root):
    found = by_name(root.get(SETTINGS))
    for name, expected in {
        "jobs.samples": ("every 3h", "5 0 * * *", "ini file"),
        "jobs.sweep": ("45 3 * * *", "45 3 * * *", "default"),
        "events.keep": ("4w", "400d", "ini file"),
        "fs.local.file_permissions": ("0600", "0640", "ini file"),
    }.items():
        assert expected == tuple(found[name][key] for key in ("value", "default", "source")), name


@with_settings(
    notify__heartbeat="https://user:5ecre7-in-url@hc.example.org/ping",
    health_check__code="5ecre7-code",
    anti_hotlink__key="5ecre7-key-of-the-links",
)
def test_no_secret_is_shown(root, ini):
    answer = root.get(SETTINGS)
    found = by_name(answer)

    secrets = {name for name, setting in found.items() if setting["secret"]}
    assert {"app.secret", "enc.token_phrase", "database.url", "health_check.code", "notify.heartbeat"} <= secrets
    assert {"***", ""} == {found[name][shown] for name in secrets for shown in ("value", "default")}
    assert [] == [name for name in secrets if name in ini and ini[name] in answer.text]
    assert "5ecre7" not in answer.text


@with_settings(
    post_install_cmd="auth:create-token --id 5ecre7-id",
    restore_tests__command="mysql -p5ecre7-of-mysql",
    cors__origins="https://ops.example.org",
)
def test_a_setting_that_is_not_declared_harmless_is_masked(root):
    answer = root.get(SETTINGS)
    found = by_name(answer)

    names = ("post_install_cmd", "restore_tests.command", "app.domain", "cors.origins")
    assert ["***", "***", "", "https://ops.example.org"] == [found[name]["value"] for name in names]
    assert "5ecre7" not in answer.text


def test_only_commands_are_neither_secret_nor_declared_harmless():
    """Settings of our own packages: a new one that holds a text is declared, or is listed here."""
    plugins = PluginRegistry.from_entry_points([])
    models = {"": Settings, **{f"{prefix}.": owned.spec.model for prefix, owned in plugins.settings.items()}}
    models |= {f"fs.{name}.": spec.settings for name, spec in plugins.storages.items()}
    fields = {
        f"{prefix}{field.alias or name}": field
        for prefix, model in models.items()
        for name, field in model.model_fields.items()
    }

    hidden = {name for name, field in fields.items() if field.annotation is not SecretStr and not is_harmless(field)}

    assert {"post_install_cmd", "restore_tests.command", "integrity.command"} == hidden


def test_plugins_are_listed_with_their_hooks_and_offers(root, plugins):
    found = by_name(root.get(PLUGINS))

    local = found["local"]
    assert ("frepo-storage-local", False) == (local["distribution"], local["disabled"])
    assert ["frepo_doctor_checks", "frepo_storages"] == local["hooks"]
    assert [("storage", "local", True), ("doctor check", "local", True)] == [
        (one["kind"], one["name"], one["used"]) for one in local["offers"]
    ]
    assert sorted(found) == list(found) == sorted(plugin.name for plugin in plugins.found)
    assert all(plugin["version"] for plugin in found.values())


@with_settings(plugins__disabled="integrity")
def test_a_plugin_that_is_switched_off_is_listed(root):
    found = by_name(root.get(PLUGINS))["integrity"]

    assert ("frepo-integrity", True, [], []) == tuple(
        found[name] for name in ("distribution", "disabled", "hooks", "offers")
    )


def test_storages_are_listed_with_their_states(root, services, push, collection):
    push(collection, b"so that the folder exists")
    before = by_name(root.get(STORAGES))["local"]
    StorageStates(services.database).failed("local", StorageFull("no room"), by=Actor(name="system:test"), size=10)
    after = by_name(root.get(STORAGES))["local"]

    assert (True, "ok", None, 0, "frepo-storage-local") == tuple(
        before[name] for name in ("current", "state", "since", "damaged", "package")
    )
    assert before["free_space"] > 0
    assert ("full", True) == (after["state"], after["since"] is not None)


def test_a_storage_that_is_not_in_use_is_not_built_for_the_list(root):
    ftp = by_name(root.get(STORAGES))["ftp"]

    assert (False, "ok", None) == (ftp["current"], ftp["state"], ftp["free_space"])


@with_settings(
    storages="offsite",
    storage__offsite__adapter="awss3v3",
    storage__offsite__bucket="backups",
    storage__offsite__key="AKIA",
    storage__offsite__secret="5ecre7-of-offsite",
)
def test_a_named_storage_is_listed_with_its_settings(root, services):
    settings, storages, plugins = (root.get(path) for path in (SETTINGS, STORAGES, PLUGINS))

    found = by_name(settings)
    assert [("backups", "ini file", "frepo-storage-s3"), ("awss3v3", "ini file", "frepo-core")] == [
        tuple(found[f"storage.offsite.{name}"][key] for key in ("value", "source", "package"))
        for name in ("bucket", "adapter")
    ]
    assert "***" == found["storage.offsite.secret"]["value"]
    assert "5ecre7" not in settings.text + services.mask("failed with 5ecre7-of-offsite")
    offsite = by_name(storages)["offsite"]
    assert ("awss3v3", "frepo-storage-s3", True, False) == tuple(
        offsite[key] for key in ("adapter", "package", "configured", "current")
    )
    assert [True] == [offer["used"] for offer in by_name(plugins)["awss3v3"]["offers"] if offer["kind"] == "storage"]
