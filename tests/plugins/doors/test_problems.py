"""Problems of collections that a plug-in reports: a state next to those that the service finds itself."""

import pytest

from frepo_core.plugins import NotFoundError, ReadOnlyError
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing.running_service import RunningService

from .conftest import DUMP, told

MISSING = "100 segments are missing"


def show(running, collection):
    return running.request("GET", f"/api/v1/collections/{collection}").json


def test_a_problem_is_the_state_of_its_collection_until_it_ends(running, service, collection):
    running.push(collection, DUMP)

    assert service.report_problem(collection, "gaps", MISSING)
    found = show(running, collection)
    [problem] = found["problems"]
    assert ("problem", ["problem"], MISSING) == (found["state"], found["states"], found["state_reason"])
    assert ("acme", "gaps", MISSING, found["state_since"]) == tuple(problem.values())
    assert service.report_problem(collection, "gaps", None)
    found = show(running, collection)
    assert ("ok", [], "") == (found["state"], found["problems"], found["state_reason"])


def test_lists_counts_and_the_health_have_it(running, service, collection):
    running.make_collection()
    service.report_problem(collection, "gaps", MISSING)

    listed = running.request("GET", "/api/v1/collections?state=problem").json["items"]
    counted = running.request("GET", "/api/v1/overview").json
    health = {one["name"]: one for one in running.request("GET", "/api/v1/health").json["checks"]}

    [known] = service.collections_in(["problem"])
    assert [collection] == [one["id"] for one in listed] == [known.collection.id]
    assert (1, 1, MISSING) == (
        counted["collections"]["problem"],
        counted["collections"]["in_trouble"],
        counted["problems"][0]["reason"],
    )
    assert 1 == service.statistics().collections_by_state["problem"]
    assert [f"dump.sql ({collection}): {MISSING}"] == health["collection_problems"]["problems"]
    shown = running.run("status")
    assert (2, True) == (shown.status, MISSING in shown.output)
    service.report_problem(collection, "gaps", None)
    assert () == service.health()["collection_problems"]


def test_only_its_beginning_and_its_end_are_events(running, service, collection):
    news = [service.report_problem(collection, "gaps", text) for text in (MISSING, MISSING, "99 missing", None, None)]

    begun, ended = (told(running, f"collection.{kind}") for kind in ("problem", "problem_ended"))
    assert [True, False, False, True, False] == news
    assert ({"plugin": "acme", "name": "gaps", "message": MISSING}, "system:acme") == (begun["data"], begun["actor"])
    assert ("99 missing", True) == (ended["data"]["message"], ended["data"]["since"] < ended["at"])
    kinds = [event["kind"] for event in running.request("GET", "/api/v1/events?kind=collection.*").json["items"]]
    assert 2 == len([kind for kind in kinds if kind.startswith("collection.problem")])


def test_several_are_named_the_oldest_first(running, service, collection):
    service.report_problem(collection, "gaps", "a gap.")
    service.report_problem(collection, "age", "no base backup")
    since = show(running, collection)["state_since"]
    service.report_problem(collection, "gaps", "two gaps")

    found = show(running, collection)

    assert ("two gaps; no base backup", since) == (found["state_reason"], found["state_since"])


def test_there_is_a_limit(running, service, collection):
    for number in range(20):
        service.report_problem(collection, f"gap_{number}", "x" * 300)

    for name, message in (("more", "x"), ("gap_0", "x" * 301), ("gap_0", ""), ("a b", "x"), ("", "x"), ("a" * 65, "x")):
        with pytest.raises(ValueError, match="problem"):
            service.report_problem(collection, name, message)
    with pytest.raises(NotFoundError):
        service.report_problem("9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001", "gaps", MISSING)
    service.report_problem(collection, "gap_19", None)
    assert service.report_problem(collection, "more", "x\0")
    assert "x\N{REPLACEMENT CHARACTER}" == show(running, collection)["problems"][-1]["message"]


def test_each_plugin_has_its_own(tmp_path, running, settings, caplog, service, collection):
    """After the other plug-in was uninstalled, its problem ends with the job that prunes."""
    service.report_problem(collection, "gaps", "a gap")
    running.close()
    other = FoundPlugin(name="other", distribution="other-paint", version="1")
    again = RunningService(tmp_path / "frepo", settings, caplog, (other,))
    try:
        assert not again.context("other").service.report_problem(collection, "gaps", None)
        again.context("other").service.report_problem(collection, "gaps", "two gaps")
        assert "a gap; two gaps" == show(again, collection)["state_reason"]

        assert 0 == again.run("jobs:run", "events").status

        assert "two gaps" == show(again, collection)["state_reason"]
        assert "acme" == told(again, "collection.problem_ended")["data"]["plugin"]
    finally:
        again.close()


class TestReadOnly:
    @pytest.fixture
    def settings(self, settings):
        return settings | {"read_only": "true"}

    @pytest.fixture
    def collection(self):
        return "x"

    def test_nothing_is_reported(self, service, collection):
        with pytest.raises(ReadOnlyError):
            service.report_problem(collection, "gaps", MISSING)
