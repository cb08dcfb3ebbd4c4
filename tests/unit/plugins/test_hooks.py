"""Every hook: what a plug-in declares is found, checked at the start, and owned by its package."""

import logging
from itertools import cycle

import pytest
from pydantic import Field

from frepo_core import assemble, plugins
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Finding
from frepo_core.plugins.mistakes import find_mistakes
from frepo_core.plugins.registry import PluginRegistry

HEAD = """
    from frepo_core import plugins
    from frepo_core.plugins import hookimpl
"""
ALL = f"""
    {HEAD}

    class Settings(plugins.PluginSettings):
        colour: str = "red"
        size: int

    @hookimpl
    def frepo_upload_checks():
        return [plugins.UploadCheck(name="paint", run=print)]

    @hookimpl
    def frepo_subscribers():
        return [plugins.Subscriber(name="painter", kinds=["version.*"], handle=print)]

    @hookimpl
    def frepo_jobs():
        return [plugins.Job(name="dry", schedule="every 1h", run=print)]

    @hookimpl
    def frepo_health_checks():
        return [plugins.HealthCheck(name="brush", run=print)]

    @hookimpl
    def frepo_settings():
        return plugins.SettingsSpec(prefix="acme", model=Settings)

    @hookimpl
    def frepo_lifecycle():
        return plugins.Lifecycle()

    @hookimpl
    def frepo_metrics(context):
        return [("collector", context.settings.colour)]
"""

# Each: the hook, and an expression that it returns.
SPECS = {
    "upload check": ("frepo_upload_checks", '[plugins.UploadCheck(name="{name}", run=print)]'),
    "subscriber": ("frepo_subscribers", '[plugins.Subscriber(name="{name}", kinds=["*"], handle=print)]'),
    "job": ("frepo_jobs", '[plugins.Job(name="{name}", schedule="off", run=print)]'),
    "health check": ("frepo_health_checks", '[plugins.HealthCheck(name="{name}", run=print)]'),
    "settings": ("frepo_settings", 'plugins.SettingsSpec(prefix="{name}", model=plugins.PluginSettings)'),
}


def module(hook, answer):
    return f"{HEAD}\n    @hookimpl\n    def {hook}():\n        return {answer}\n"


def refusal():
    with pytest.raises(ConfigurationError) as caught:
        PluginRegistry.from_entry_points()
    return str(caught.value)


def test_a_default_of_a_setting_is_read_as_if_it_was_set():
    class Settings(plugins.PluginSettings):
        largest: plugins.Size = Field("10kB")
        suffixes: plugins.Words = Field(".jsonl, .log")

    assert (10_000, (".jsonl", ".log")) == (Settings().largest, Settings().suffixes)


def test_a_default_of_a_storage_of_today_is_not_checked():
    class Settings(plugins.StorageSettings):
        port: int = None

    assert Settings().port is None


def test_everything_that_a_plugin_provides_is_found_with_its_owner(install):
    install("acme-paint", "paint", ALL)

    registry = PluginRegistry.from_entry_points()

    kinds = (registry.upload_checks, registry.subscribers, registry.jobs, registry.health_checks, registry.settings)
    mine = [(key, one.plugin.distribution) for kind in kinds for key, one in kind.items() if one.plugin.name == "paint"]
    assert mine == [(name, "acme-paint") for name in ("paint", "painter", "dry", "brush", "acme")]


@pytest.mark.parametrize("kind", SPECS)
def test_a_name_that_two_packages_claim_names_both(install, kind):
    hook, answer = SPECS[kind]
    install("acme-one", "one", module(hook, answer.format(name="box")))
    install("acme-two", "two", module(hook, answer.format(name="box")))

    message = refusal()

    assert [] == [text for text in ("'box'", "acme-one", "acme-two", "plugins.disabled") if text not in message]


@pytest.mark.parametrize(("kind", "name"), [*zip(SPECS, cycle(["Box", "my-box", "2nd", ""]), strict=False)])
def test_a_name_that_a_variable_cannot_spell_is_refused(install, kind, name):
    hook, answer = SPECS[kind]
    install("acme-one", "one", module(hook, answer.format(name=name)))
    message = refusal()
    assert [] == [text for text in ("acme-one", repr(name), "lower-case letters") if text not in message]


@pytest.mark.parametrize(
    ("hook", "answer", "reason"),
    [
        ("frepo_upload_checks", "[plugins.UploadCheck(name='a', run=3)]", "run is 3"),
        ("frepo_upload_checks", "[plugins.UploadCheck(name='a', run=print, on_finding='shout')]", "'shout'"),
        ("frepo_upload_checks", "[plugins.UploadCheck(name='a', run=print, applies_to=('disks',))]", "'disks'"),
        ("frepo_upload_checks", "[plugins.UploadCheck(name='a', run=print, begins=b'PK')]", "in a tuple"),
        ("frepo_upload_checks", "['paint']", "'paint' is not a UploadCheck"),
        ("frepo_subscribers", "[plugins.Subscriber(name='a', kinds='version.*', handle=print)]", "list of texts"),
        ("frepo_subscribers", "[plugins.Subscriber(name='a', kinds=[], handle=print)]", "kinds is empty"),
        ("frepo_subscribers", "[plugins.Subscriber(name='a', kinds=['*'], handle=print, delay=-1)]", "delay is -1"),
        ("frepo_jobs", "[plugins.Job(name='a', schedule='off', run=print, lane='fast')]", "lane is 'fast'"),
        ("frepo_jobs", "[plugins.Job(name='a', schedule='', run=print)]", "schedule is ''"),
        ("frepo_health_checks", "[plugins.HealthCheck(name='a', run=print, deadline=0)]", "deadline is 0"),
        ("frepo_settings", "plugins.SettingsSpec(prefix='acme', model=int)", "model is <class 'int'>"),
        ("frepo_settings", "plugins.SettingsSpec(prefix='fs', model=plugins.PluginSettings)", "frepo itself"),
        ("frepo_settings", "[plugins.SettingsSpec(prefix='acme', model=plugins.PluginSettings)]", "not a SettingsSpec"),
        ("frepo_lifecycle", "plugins.Lifecycle(start='now')", "start is 'now'"),
        ("frepo_lifecycle", "exit(3)", "does not work: 3"),
    ],
)
def test_a_wrong_declaration_stops_the_start_and_names_the_package(install, hook, answer, reason):
    install("acme-one", "one", module(hook, answer))

    message = refusal()

    assert [] == [text for text in ("acme-one", reason) if text not in message]


def test_settings_come_from_the_environment_then_the_ini_then_the_default(install, ini):
    install("acme-paint", "paint", ALL)

    services = assemble(ini | {"acme.size": "3", "acme.colour": "blue"}, {"ACME_COLOUR": "green"})

    settings = services.contexts["paint"].settings
    assert (3, "green") == (settings.size, settings.colour)


@pytest.mark.parametrize(
    ("more", "environment", "told"),
    [
        ({"acme.size": "3", "acme.colur": "red"}, {}, "'acme.colur' (ACME_COLUR)"),
        ({"acme.size": "3"}, {"ACME_COLUR": "red"}, "'acme.colur' (ACME_COLUR)"),
        ({}, {}, "acme.size (ACME_SIZE): is required"),
        ({"acme.size": "big"}, {}, "acme.size (ACME_SIZE): Input should be a valid integer"),
    ],
)
def test_a_wrong_setting_stops_the_start_and_is_named_in_both_spellings(install, ini, more, environment, told):
    install("acme-paint", "paint", ALL)

    with pytest.raises(ConfigurationError) as caught:
        assemble(ini | more, environment)

    assert told in str(caught.value)


def test_settings_of_a_plugin_that_is_switched_off_may_stay(install, ini):
    install("acme-paint", "acme", ALL)

    services = assemble(ini | {"acme.size": "3", "plugins.disabled": "acme"}, {})

    assert "acme" not in services.contexts


def test_a_line_in_the_log_of_a_plugin_names_its_package(install, ini, caplog):
    install("acme-paint", "paint", ALL)
    context = assemble(ini | {"acme.size": "3"}, {}).contexts["paint"]

    with caplog.at_level(logging.INFO, logger="frepo_core"):  # a command that ran in this process may have changed it
        context.log.info("%s %d%%", "done", 50)

    assert ["the plug-in 'paint' of the package acme-paint 1.2.3: done 50%"] == caplog.messages[-1:]


def test_collectors_are_made_with_the_context_and_named_with_their_owner(install, ini):
    install("acme-paint", "paint", ALL)
    service = assemble(ini | {"acme.size": "3"}, {}).contexts["paint"].service

    found = {one.origin: one.collector for one in service.collectors()}

    assert found["the plug-in 'paint' of the package acme-paint 1.2.3"] == ("collector", "red")


def test_collectors_of_a_broken_plugin_are_left_out_and_logged(install, ini, caplog):
    install("acme-paint", "paint", ALL.replace('[("collector", context.settings.colour)]', "exit(1)"))
    service = assemble(ini | {"acme.size": "3"}, {}).contexts["paint"].service

    assert [] == [one for one in service.collectors() if "acme" in one.origin]
    assert "'frepo_metrics' of the plug-in 'paint' (acme-paint) does not work" in caplog.text


CONFIGURED = ALL.replace("frepo_subscribers()", "frepo_subscribers(context)").replace(
    "frepo_jobs()", "frepo_jobs(context)"
)
CONFIGURED = CONFIGURED.replace('"painter"', 'f"painter_{context.settings.colour}"').replace(
    '"every 1h"', 'f"every {context.settings.size}h"'
)


def test_subscribers_and_jobs_may_depend_on_the_settings(install, ini):
    install("acme-paint", "paint", CONFIGURED)

    plugins = assemble(ini | {"acme.size": "3", "acme.colour": "blue"}, {}).plugins

    assert "acme-paint" == plugins.subscribers["painter_blue"].plugin.distribution
    assert "every 3h" == plugins.jobs["dry"].spec.schedule
    assert "brush" in plugins.health_checks


def test_what_depends_on_the_settings_is_checked_at_the_start(install, ini):
    install("acme-paint", "paint", CONFIGURED)

    with pytest.raises(ConfigurationError, match="names a Subscriber 'painter_Blue'.*lower-case letters"):
        assemble(ini | {"acme.size": "3", "acme.colour": "Blue"}, {})


def test_a_disabled_name_that_does_not_exist_is_reported():
    (warning,) = [text for text in find_mistakes(["nowhere"]) if "nowhere" in text]

    assert "plugins.disabled names 'nowhere', but no installed plug-in has this name. Installed: " in warning


def test_an_entry_point_that_is_not_a_module_is_reported(install):
    install("acme-paint", "paint", "class Paint: pass", value="acme_paint:Paint")

    (warning,) = find_mistakes([])

    assert "'paint' of the package acme-paint names 'acme_paint:Paint', which is not a module" in warning


def test_a_package_without_an_entry_point_is_reported(install):
    install("frepo-acme", "paint", "", group="other")

    (warning,) = find_mistakes([])

    assert "The package frepo-acme is installed, but has no entry point in the group 'frepo'" in warning


def test_our_own_packages_are_no_mistakes():
    assert [] == find_mistakes([])


def test_a_finding_may_say_what_follows_it():
    assert "refuse" == Finding("cut", on_finding="refuse").on_finding
    assert Finding("cut").on_finding is None
    with pytest.raises(ValueError, match="'shout'; write off, mark, quarantine or refuse"):
        Finding("cut", on_finding="shout")
