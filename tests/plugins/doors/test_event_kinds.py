"""Events of kinds that a plug-in declares: everybody who shows events shows them with their sentence."""

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import PluginEventKind
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.testing import make_event
from frepo_notify.targets import parse_targets
from frepo_notify.texts import describe, title_of

from .conftest import told

SENTENCE = "A wall was painted."
KIND = PluginEventKind(name="acme.painted", sentence=SENTENCE, keys=("colour",))


@pytest.fixture
def offers():
    return {"event_kinds": [KIND]}


@pytest.fixture
def painted(running, service, uploader, collection):
    """An event that a client caused, about its collection."""
    service.store.transaction(
        lambda tx: tx.record_event("acme.painted", by=uploader, collection_id=collection, data={"colour": "red"})
    )
    return told(running, "acme.painted")


@pytest.mark.costly
def test_the_api_shows_the_event_with_its_sentence(running, painted, uploader, collection):
    for pattern in ("acme.painted", "acme.*"):
        (event,) = running.request("GET", f"/api/v1/events?kind={pattern}").json["items"]

        assert ("acme.painted", uploader.fingerprint, collection) == (
            event["kind"],
            event["actor"],
            event["collection_id"],
        )
        assert {"colour": "red", "sentence": SENTENCE} == event["data"]
    assert 400 == running.request("GET", "/api/v1/events?kind=acne.*").status


def test_the_command_shows_the_event(running, painted):
    shown = running.run("events", "--kind", "acme.*", "-f", "json")

    assert (0, True) == (shown.status, SENTENCE in shown.output)


def test_a_plugin_reads_its_events(service, painted):
    assert [SENTENCE] == [event.data["sentence"] for event in service.events(kinds=["acme.*"])]


@pytest.mark.costly
def test_an_event_about_a_collection_is_shown_to_those_who_may_see_it(running, painted):
    reader = running.make_token("events.view")

    assert [] == running.request("GET", "/api/v1/events?kind=acme.*", token=reader).json["items"]


def test_a_notification_says_the_sentence():
    event = make_event("acme.painted", data={"sentence": SENTENCE})

    assert ("A wall was painted", SENTENCE) == (title_of(event), describe(event))


def test_notifications_about_kinds_of_plugins_can_be_asked_for():
    (target,) = parse_targets("ops ntfy://a kinds=acme.*")

    assert target.takes(make_event("acme.painted"))
    for wrong in ("verion.*", "acme", "*.nothing"):
        with pytest.raises(ValueError, match="no kind of event"):
            parse_targets(f"ops ntfy://a kinds={wrong}")


def test_a_kind_has_the_name_of_its_plugin():
    for name in ["painted", "acme", "other.painted", "acme.Painted", "acme."]:
        kind = PluginEventKind(name=name, sentence=SENTENCE)

        with pytest.raises(ConfigurationError, match="acme-paint names a kind of events"):
            PluginRegistry([FoundPlugin(name="acme", distribution="acme-paint", version="1", event_kinds=[kind])])


def test_a_plugin_declares_no_kind_of_frepo():
    kind = PluginEventKind(name="version.painted", sentence=SENTENCE)

    with pytest.raises(ConfigurationError, match="not after an object of frepo"):
        PluginRegistry([FoundPlugin(name="version", distribution="acme-paint", version="1", event_kinds=[kind])])
