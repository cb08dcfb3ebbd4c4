"""Settings: environment before ini before default; unknown names and wrong values are refused with helpful messages."""

from pathlib import Path

import pytest
from pydantic import BaseModel, Field, SecretStr, model_validator

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import StorageSettings
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings, environment_name, load_settings, load_storage_settings
from frepo_core.settings.loader import load_job_schedules

SECRETS = {
    "app.secret": "s3cret-of-the-app",
    "enc.token_phrase": "phrase-of-the-tokens",
    "database.url": "sqlite:///frepo.db",
}
BACKENDS = PluginRegistry.from_entry_points().storages


def load(ini=None, environment=None):
    return load_settings(SECRETS | (ini or {}), environment or {})


def refusal(ini=None, environment=None):
    with pytest.raises(ConfigurationError) as caught:
        load(ini, environment)
    return str(caught.value)


class CrateSettings(StorageSettings):
    """Example settings of a backend."""

    label: str = Field(min_length=1)
    key: SecretStr = SecretStr("")
    depth: int = Field(3, ge=1)
    sealed: bool = False

    @model_validator(mode="after")
    def _sealed_needs_key(self):
        if self.sealed and not self.key.get_secret_value():
            raise ValueError("a sealed crate needs a key")
        return self


def load_crate(ini=None, environment=None):
    return load_storage_settings(CrateSettings, "crate", ini or {}, environment or {})


def crate_refusal(ini=None, environment=None):
    with pytest.raises(ConfigurationError) as caught:
        load_crate(ini, environment)
    return str(caught.value)


def test_the_environments_name_is_in_capitals_with_underscores():
    for name, variable in [
        ("fs.awss3v3.bucket", "FS_AWSS3V3_BUCKET"),
        ("read_only", "READ_ONLY"),
        ("enc.token_phrase", "ENC_TOKEN_PHRASE"),
    ]:
        assert variable == environment_name(name)


def test_no_two_settings_share_a_name_in_the_environment():
    names = [environment_name(field.alias) for field in Settings.model_fields.values()]

    assert len(names) == len(set(names))


def test_the_environment_beats_the_ini_and_the_ini_the_default():
    """What is empty is as if unset, and what others read is ignored."""
    ftp = {"fs.adapter": "ftp"}
    for ini, environment, expected in [
        ({}, {}, "local"),
        (ftp, {}, "ftp"),
        (ftp, {"FS_ADAPTER": "awss3v3"}, "awss3v3"),
        (ftp, {"FS_ADAPTER": ""}, "ftp"),
        ({"fs.adapter": ""}, {}, "local"),
        ({"fs.local.directory": "x", "fs.ftp.host": "x", "pyramid.includes": "x"}, {}, "local"),
        ({}, {"PATH": "/bin", "APP_COLOUR": "red"}, "local"),
    ]:
        assert load(ini, environment).fs_adapter == expected, (ini, environment)


def test_an_unknown_name_in_the_ini_is_refused():
    for name, meant in {
        "fs.adaptor": "fs.adapter",
        "app.sceret": "app.secret",
        "read.only": "read_only",
        "READ_ONLY": "read_only",
        "fs_adapter": "fs.adapter",
        "backup_max_versions": "backup.max_versions",
    }.items():
        message = refusal({name: "1"})

        assert f"Unknown setting {name!r}" in message
        assert meant in message.partition("Did you mean ")[2]
        assert len(message) < 200
    assert "docs/settings.md lists all" in refusal({"zzz": "1"})


def test_true_and_false_are_written_in_several_ways():
    for texts, expected in [
        (["true", "1", "yes", "on", "TRUE", "On"], True),
        (["false", "0", "no", "off", "False", "OFF"], False),
    ]:
        found = [load({"read_only": str(not expected)}, {"READ_ONLY": text}).read_only for text in texts]
        assert [expected] * 6 == found


def test_sizes_are_written_as_in_requests():
    for text, size in [("0", 0), ("1024", 1024), ("1.5GB", 1_500_000_000), ("2 gib", 2 << 30)]:
        assert size == load({"backup.one_version_max_size": text}).backup_one_version_max_size


def test_a_rate_has_a_floor_and_zero_is_no_limit():
    assert [0, 100_000] == [load({"mirror.rate": text}).mirror_rate for text in ("0", "100kB")]
    assert "20 bytes a second is so slow that nothing gets done: write at least 100kB" in refusal({"mirror.rate": "20"})


def test_a_list_is_split_at_commas_blanks_and_lines():
    for text in ["a b", "a,b", " a , b ", "a\nb", "\n  a\n  b\n"]:
        assert load({"plugins.disabled": text}).plugins_disabled == ("a", "b")


def test_commands_keep_their_blanks():
    commands = load({"post_install_cmd": "auth:create-token --roles a b\n backup:create-collection -f x; plugins"})

    assert commands.post_install_cmd == ("auth:create-token --roles a b", "backup:create-collection -f x", "plugins")


def test_networks_are_addresses_and_ranges():
    networks = load({"trusted_proxies": "127.0.0.1, 10.1.2.3/8 ::1 2001:db8::/32"}).trusted_proxies

    assert [str(network) for network in networks] == ["127.0.0.1/32", "10.0.0.0/8", "::1/128", "2001:db8::/32"]


def test_a_secret_of_digits_stays_a_text():
    assert load({"health_check.code": "0123"}).health_check_code.get_secret_value() == "0123"


def test_a_wrong_value_is_refused_under_both_names():
    for name, value in [
        ("read_only", "perhaps"),
        ("backup.max_versions", "-1"),
        ("backup.max_versions", "many"),
        ("backup.max_versions", str(2**63)),
        ("backup.one_version_max_size", "5 parsecs"),
        ("backup.collection_max_size", "-5GB"),
        ("backup.duplicate_versions", "sometimes"),
        ("trusted_proxies", "10.0.0.0/99"),
        ("http.timeout", "0"),
        ("http.timeout", "nan"),
        ("token.expiration_time", "soon"),
        ("token.expiration_time", "auto"),
        ("app.env", "production"),
    ]:
        for place in ["ini", "environment"]:
            message = refusal({name: value}) if place == "ini" else refusal({}, {environment_name(name): value})

            assert message.startswith(f"Setting {name} ({environment_name(name)}): ")


def test_all_wrong_values_are_named_at_once():
    message = refusal({"read_only": "perhaps", "backup.max_versions": "-1"})

    assert [line.split()[1] for line in message.splitlines()] == ["read_only", "backup.max_versions"]


def test_a_token_lifetime_may_have_blanks_around_it():
    assert load({}, {"TOKEN_EXPIRATION_TIME": " +1 day "}).token_expiration_time.strip() == "+1 day"


def test_settings_cannot_be_changed():
    with pytest.raises(ValueError, match="frozen"):
        load().read_only = True


SECRET_NAMES = [field.alias for field in Settings.model_fields.values() if field.annotation is SecretStr]


def test_a_secret_does_not_show_nor_in_the_error_for_its_neighbour():
    for name in SECRET_NAMES:
        settings = load({name: "hunter2-hunter2"})
        shown = repr(settings) + str(settings) + settings.model_dump_json()
        assert "hunter2" not in shown + refusal({name: "hunter2-hunter2", "read_only": "perhaps"})


def test_settings_with_the_name_of_a_secret_are_secret():
    assert set(SECRET_NAMES) == {
        "app.secret",
        "health_check.code",
        "enc.token_phrase",
        "security.admin_token",
        "database.url",
        "anti_hotlink.key",
        "anti_hotlink.secret_method",
    }


def test_a_backend_is_filled_from_both_places():
    others = {"FS_CRATE_DEPTH": "7", "FS_CRATE_LABEL": "", "FS_CRATE_LABLE": "", "FS_BARREL_STAVES": "9"}
    settings = load_crate({"fs.crate.label": "a", "fs.crate.depth": "1", "fs.barrel.staves": "9"}, others)
    assert ("a", 7) == (settings.label, settings.depth)


def test_a_missing_setting_of_a_backend_is_named_in_both_spellings():
    assert crate_refusal() == "Setting fs.crate.label (FS_CRATE_LABEL): is required but not set"


def test_an_unknown_setting_of_a_backend_is_refused_in_both_places():
    for ini, environment, name in [
        ({"fs.crate.lable": "a"}, {}, "fs.crate.lable"),
        ({}, {"FS_CRATE_LABLE": "a"}, "FS_CRATE_LABLE"),
    ]:
        message = crate_refusal({"fs.crate.label": "a"} | ini, environment)

        assert (True, True) == (name in message, "label" in message.lower())


def test_a_rule_between_settings_of_a_backend_names_the_backend():
    message = crate_refusal({"fs.crate.label": "a", "fs.crate.sealed": "true"})

    assert (True, True, True) == (
        "fs.crate." in message,
        "FS_CRATE_" in message,
        "a sealed crate needs a key" in message,
    )


def test_a_backends_error_shows_no_value():
    for ini, fault in [
        ({"fs.crate.depth": "hunter2"}, "depth"),
        ({"fs.crate.key": "hunter2", "fs.crate.label": ""}, "label"),
    ]:
        message = crate_refusal({"fs.crate.label": "a"} | ini)

        assert (True, False) == (fault in message, "hunter2" in message)


def test_backend_settings_with_the_name_of_a_secret_are_masked():
    for adapter in BACKENDS:
        fields = BACKENDS[adapter].settings.model_fields

        shown = [
            name
            for name, field in fields.items()
            if {"password", "secret", "key", "token"} & set(name.split("_"))
            and field.annotation not in {SecretStr, Path}
        ]
        assert shown == []


def test_every_backend_refuses_unknown_settings():
    for adapter in BACKENDS:
        with pytest.raises(ConfigurationError, match=f"fs.{adapter}.colour"):
            load_storage_settings(BACKENDS[adapter].settings, adapter, {f"fs.{adapter}.colour": "red"}, {})
            pytest.fail(repr(adapter))


def test_half_a_pair_of_keys_is_reported():
    ini = {"fs.awss3v3.bucket": "b", "fs.awss3v3.key": "AKIA"}

    with pytest.raises(ConfigurationError, match="key and secret are given together"):
        load_storage_settings(BACKENDS["awss3v3"].settings, "awss3v3", ini, {})


def test_a_backend_may_use_a_plain_model():
    class Plain(BaseModel):
        where: Path

    settings = load_storage_settings(Plain, "plain", {"fs.plain.where": "/srv"}, {})

    assert settings.where == Path("/srv")


def test_the_schedule_of_a_job_in_the_environment_beats_that_of_the_ini():
    ini, environment = {"jobs.trash": "every 1h", "jobs.sweep": "off"}, {"JOBS_TRASH": "every 2h"}

    assert {"trash": "every 2h", "sweep": "off"} == load_job_schedules(["trash", "sweep", "verify"], ini, environment)
