"""A faulty installed plug-in stops the start with a message that names its package.

The distributions in these tests are real: a module and its metadata in a folder on the path.
"""

from importlib.metadata import version

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins.mistakes import find_mistakes
from frepo_core.plugins.registry import PluginRegistry

STORAGE = """
    from frepo_core.plugins import StorageSettings, StorageSpec, hookimpl
    from frepo_core.testing import MemoryStorage

    class Settings(StorageSettings):
        label: str
        depth: int = 3

    @hookimpl
    def frepo_storages():
        return [StorageSpec(name="{name}", settings=Settings, build=lambda settings: MemoryStorage())]
"""
STRATEGY = """
    from frepo_core.plugins import CollectionStrategy, StrategySpec, hookimpl

    class KeepAll(CollectionStrategy):
        def make_room(self, collection, incoming):
            return []

    @hookimpl
    def frepo_strategies():
        return [StrategySpec(name="{name}", build=KeepAll)]
"""


def refusal(disabled=()):
    with pytest.raises(ConfigurationError) as caught:
        PluginRegistry.from_entry_points(disabled)
    return str(caught.value)


def test_a_third_party_storage_is_found_with_its_package(install):
    install("acme-crate", "crate", STORAGE.format(name="crate"))

    found = {plugin.name: plugin for plugin in PluginRegistry.from_entry_points().found}["crate"]

    assert ("acme-crate", "1.2.3", ["crate"]) == (
        found.distribution,
        found.version,
        [spec.name for spec in found.storages],
    )


def test_a_third_party_strategy_can_be_built(install):
    install("acme-keep", "keep", STRATEGY.format(name="keep_all"))

    strategy = PluginRegistry.from_entry_points().strategy("keep_all")

    assert type(strategy).__name__ == "KeepAll"


@pytest.mark.parametrize("source", [STORAGE, STRATEGY])
def test_a_name_that_two_packages_claim_names_both(install, source):
    install("acme-crate", "crate", source.format(name="box"))
    install("other-crate", "other", source.format(name="box"))

    message = refusal()

    assert (True, True, True) == ("'box'" in message, "acme-crate" in message, "other-crate" in message)


def test_an_entry_point_that_two_packages_claim_names_both(install):
    install("acme-crate", "crate", STORAGE.format(name="one"))
    install("other-crate", "crate", STORAGE.format(name="two"))

    message = refusal()

    assert (True, True, True) == ("'crate'" in message, "acme-crate" in message, "other-crate" in message)
    assert "Uninstall one of them; plugins.disabled = crate would switch off both" in message


NEWER = """
    from frepo_core.plugins import a_name_of_later
"""


@pytest.mark.parametrize("needed", [">=7.3", ">7", "~=7.3", "==7.3.1", "<9,>=7"])
def test_a_plug_in_that_requires_a_newer_frepo_is_found_before_it_is_imported(install, needed):
    install("acme-crate", "crate", NEWER, requires=[f"frepo-core {needed}"])

    message = refusal()

    assert "The package acme-crate 1.2.3 requires frepo-core" in message
    assert f"{version('frepo-core')} is installed" in message
    assert "plugins.disabled = crate" in message


@pytest.mark.parametrize(
    "needed", ["frepo-core >=0.1, <9", "frepo_core", 'frepo-core >=7; extra == "later"', "other >=7"]
)
def test_a_requirement_that_is_met_is_no_mistake(install, needed):
    install("acme-crate", "crate", STORAGE.format(name="box"), requires=[needed])

    assert "box" in PluginRegistry.from_entry_points().storages
    assert [] == find_mistakes([])


def test_a_plug_in_for_an_earlier_frepo_is_a_warning(install):
    install("acme-crate", "crate", STORAGE.format(name="box"), requires=["frepo-core <0.1"])
    PluginRegistry.from_entry_points()

    (warning,) = find_mistakes([])

    assert "The package acme-crate 1.2.3 requires frepo-core<0.1" in warning
    assert '"frepo-core >=0.1, <1" in `dependencies` of its pyproject.toml' in warning


@pytest.mark.parametrize("name", ["frepo_storage", "frepo_storagess", "storages"])
def test_a_misspelt_hook_names_the_package_and_the_hooks(install, name):
    install("acme-crate", "crate", STORAGE.format(name="box").replace("def frepo_storages", f"def {name}"))

    message = refusal()

    assert (True, True, True) == (
        "acme-crate" in message,
        f"'{name}'" in message,
        "frepo_storages, frepo_strategies" in message,
    )


def test_a_missing_decorator_is_reported(install):
    install("acme-crate", "crate", STORAGE.format(name="box").replace("@hookimpl", ""))

    message = refusal()

    assert (True, True, True) == ("acme-crate" in message, "@hookimpl" in message, "frepo_storages" in message)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import surely_not_installed", "surely_not_installed"),
        ("raise RuntimeError('no luck today')", "no luck today"),
        ("def broken(:", "invalid syntax"),
        (STORAGE.format(name="box").replace("frepo_storages()", "frepo_storages(app)"), "app"),
    ],
)
def test_a_module_that_cannot_be_loaded_is_reported_with_reason_and_remedy(install, source, reason):
    install("acme-crate", "crate", source)

    message = refusal()

    assert (True, True, True) == ("acme-crate" in message, reason in message, "plugins.disabled = crate" in message)


@pytest.mark.parametrize(
    ("answer", "reason"), [("raise KeyError('luck')", "luck"), ("return None", "NoneType"), ("return ['box']", "box")]
)
def test_an_invalid_hook_result_names_the_package(install, answer, reason):
    install("acme-crate", "crate", STORAGE.format(name="box").replace("return [", f"{answer}\n        return ["))

    message = refusal()

    assert (True, True, True) == ("acme-crate" in message, "frepo_storages" in message, reason in message)


@pytest.mark.parametrize(
    ("source", "name"), [(STORAGE, "keep-all"), (STRATEGY, ""), (STORAGE, "2nd"), (STRATEGY, "keep all")]
)
def test_a_name_with_a_dash_or_another_sign_is_refused(install, source, name):
    install("acme-crate", "crate", source.format(name=name))
    message = refusal()
    assert (True, True, True) == ("acme-crate" in message, repr(name) in message, "no dash" in message)


def test_a_plugin_with_a_dash_in_its_name_is_refused(install):
    install("acme-crate", "acme-crate", STORAGE.format(name="crate"))

    assert "names a plug-in 'acme-crate'" in refusal()


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        ("lambda: object()", "is not a CollectionStrategy"),
        ("lambda: KeepAll", "KeepAll"),
        ("lambda: 1 / 0", "division"),
    ],
)
def test_a_strategy_that_cannot_be_built_stops_the_start(install, build, reason):
    install("acme-keep", "keep", STRATEGY.format(name="keep_all").replace("build=KeepAll", f"build={build}"))

    message = refusal()

    assert (True, True) == (reason in message, "the plug-in 'keep' of the package acme-keep 1.2.3" in message)


@pytest.mark.parametrize(("built", "reason"), [("None", "is not a StorageBackend"), ("1 / 0", "division by zero")])
def test_a_storage_that_cannot_be_built_stops_the_start(install, ini, built, reason):
    install("acme-crate", "crate", STORAGE.format(name="box").replace("MemoryStorage())]", f"{built})]"))

    with pytest.raises(ConfigurationError, match=f"plug-in 'crate' of the package acme-crate 1.2.3.*{reason}"):
        assemble(ini | {"fs.adapter": "box", "fs.box.label": "a"}, {})


def test_a_broken_plugin_can_be_switched_off(install):
    install("acme-crate", "crate", "import surely_not_installed")

    registry = PluginRegistry.from_entry_points(["crate"])

    assert "local" in registry.storages


def test_one_of_two_plugins_with_the_same_name_can_be_switched_off(install):
    install("acme-crate", "crate", STORAGE.format(name="box"))
    install("other-crate", "other", STORAGE.format(name="box"))

    registry = PluginRegistry.from_entry_points(["other"])

    assert [plugin.distribution for plugin in registry.found if plugin.name in {"crate", "other"}] == ["acme-crate"]


def test_an_unknown_adapter_names_the_package_to_install_and_the_installed_adapters(ini):
    with pytest.raises(ConfigurationError) as caught:
        assemble(ini | {"fs.adapter": "barrel"}, {})

    message = str(caught.value)
    assert (True, True, True) == (
        "fs.adapter (FS_ADAPTER) is 'barrel'" in message,
        "pip install frepo-storage-barrel" in message,
        "Installed: awss3v3, ftp, local" in message,
    )


def test_the_package_to_install_is_the_one_that_contains_the_adapter(ini):
    with pytest.raises(ConfigurationError, match="pip install frepo-storage-s3`"):
        assemble(ini | {"fs.adapter": "awss3v3", "plugins.disabled": "awss3v3"}, {})


def test_a_missing_setting_of_the_adapter_in_use_stops_the_start(install, ini):
    install("acme-crate", "crate", STORAGE.format(name="box"))

    with pytest.raises(ConfigurationError, match=r"fs\.box\.label \(FS_BOX_LABEL\): is required"):
        assemble(ini | {"fs.adapter": "box"}, {})


def test_an_unknown_setting_of_the_adapter_in_use_stops_the_start(install, ini):
    install("acme-crate", "crate", STORAGE.format(name="box"))

    with pytest.raises(ConfigurationError, match="FS_BOX_LABLE"):
        assemble(ini | {"fs.adapter": "box", "fs.box.label": "a"}, {"FS_BOX_LABLE": "b"})


def test_settings_of_an_unused_adapter_are_not_checked(install, ini):
    install("acme-crate", "crate", STORAGE.format(name="box"))

    services = assemble(ini | {"fs.box.lable": "a"}, {"FS_BOX_COLOUR": "red"})

    assert services.settings.fs_adapter == "local"


def test_an_unknown_strategy_is_reported_with_the_installed_ones():
    with pytest.raises(
        ConfigurationError, match="'lottery'.*Installed: alert_when_backup_limit_reached, delete_oldest"
    ):
        PluginRegistry.from_entry_points().strategy("lottery")
