"""The start of a service: wrong settings are named, and Apprise is not imported into the process."""

import subprocess
import sys

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from support.receivers.webhooks import SECRET


def start(services):
    (lifecycle,) = next(plugin for plugin in services.plugins.found if plugin.name == "notify").lifecycles
    lifecycle.start(services.contexts["notify"])


def test_a_wrong_setting_is_named_without_its_value(ini):
    for setting, value, message in [
        ("notify.targets", "ops ntfy://p5ecret kind=*", "Setting notify.targets (NOTIFY_TARGETS): "),
        ("notify.heartbeat", "mailto://p5ecret", "Setting notify.heartbeat (NOTIFY_HEARTBEAT): "),
        ("notify.group_wait", "-1", "Setting notify.group_wait (NOTIFY_GROUP_WAIT): "),
        ("notify.allowed_networks", "300.1.2.3", "Setting notify.allowed_networks (NOTIFY_ALLOWED_NETWORKS): "),
        ("notify.target", "p5ecret", "Unknown setting 'notify.target'"),
    ]:
        with pytest.raises(ConfigurationError) as caught:
            assemble(ini | {setting: value}, {})

        assert message in caught.value.message
        assert "p5ecret" not in caught.value.message, setting


def test_targets_are_read_from_the_environment(ini):
    services = assemble(ini, {"NOTIFY_TARGETS": "one ntfy://a ; two ntfy://b"})

    assert {"notify_one", "notify_two"} <= services.plugins.subscribers.keys()


def test_a_target_for_people_waits_for_what_happens_together(ini):
    text = f"ops ntfy://a\nhook https://example.org/ secret={SECRET}"
    subscribers = assemble(ini | {"notify.targets": text, "notify.group_wait": "7"}, {}).plugins.subscribers

    assert (7, 0) == (subscribers["notify_ops"].spec.delay, subscribers["notify_hook"].spec.delay)


@pytest.mark.costly
def test_a_url_that_apprise_does_not_understand_stops_the_start(ini):
    services = assemble(ini | {"notify.targets": "ops ntfy://topic\nbad nonsense://p5ecret"}, {})

    with pytest.raises(ConfigurationError) as caught:
        start(services)

    assert "Apprise does not understand the URL of the target 'bad'." in caught.value.message
    assert "p5ecret" not in caught.value.message


@pytest.mark.costly
def test_urls_that_apprise_understands_do_not_stop_it(ini):
    start(assemble(ini | {"notify.targets": "ops mailto://a:b@example.org\nchat matrixs://a:b@example.org/#c"}, {}))


@pytest.mark.costly
def test_a_start_does_not_import_apprise():
    code = (
        "import sys; from frepo_core.plugins.registry import PluginRegistry; "
        "PluginRegistry.from_entry_points(); sys.exit('apprise' in sys.modules)"
    )

    assert 0 == subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode
