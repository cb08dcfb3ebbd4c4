"""What follows when an upload check finds a content broken."""

from pathlib import Path

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.plugins import CheckResult, Finding

ORIGIN = "the check 'paint' (the plug-in 'acme' of the package acme-paint 1.2.3)"


GOOD = CheckResult(outcome="good")


def find(content, context):
    raise Finding("it ends too early", details={"bytes": 3})


def leave(content, context):
    raise SystemExit(3)


def test_a_finding_is_logged_and_the_version_accepted(root, collection, painter, caplog):
    painter.act = find

    answer = root.push(collection, b"a dump")

    assert 200 == answer.status_int
    assert f"collection {collection}: version 1: {ORIGIN} found: it ends too early" in caplog.text


def test_what_a_check_said_is_recorded_with_the_version(root, collection, painter, services):
    acts = [
        (find, ("broken", "it ends too early", {"bytes": 3})),
        (lambda content, context: GOOD, ("good", "", {})),
        (
            lambda content, context: CheckResult(outcome="pending", message="large", details={"at": Path("/srv")}),
            ("pending", "large", {"at": "/srv"}),
        ),
        (
            lambda content, context: CheckResult(
                outcome="good", message="a\0b\udcff", details={"name": "\udcff", "ratio": 1.5}
            ),
            ("good", "a\ufffdb\ufffd", {"name": "\ufffd", "ratio": 1.5}),
        ),
        (
            lambda content, context: CheckResult(outcome="good", details={"ratio": float("nan")}),
            ("good", "", {"details": "{'ratio': nan}"}),
        ),
        (leave, ("not checked", "The check failed, the log of the service knows more", {})),
    ]
    for number, (act, expected) in enumerate(acts, 1):
        painter.act = act
        root.push(collection, b"a dump")

        (found,) = [one for one in services.version_checks.of_collection(collection, number) if one.name == "paint"]
        assert expected == (found.outcome, found.message, found.details)


def test_a_finding_may_refuse_the_upload_although_others_are_marked(root, collection, painter):
    def refuse(content, context):
        raise Finding("it ends too early", on_finding="refuse")

    painter.act = refuse

    assert (400, 4017) == ((answer := root.push(collection, b"a dump")).status_int, answer.json["error_code"])


def test_a_finding_changes_no_rotation(root, collection, painter):
    painter.act = find

    for content in (b"one", b"two", b"three"):
        root.push(collection, content)

    assert ["2", "3"] == sorted(root.versions(collection))


class TestQuarantine:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"acme.on_finding": "quarantine"}

    def test_a_finding_puts_the_version_into_quarantine(self, root, collection, painter, services):
        for content in (b"one", b"two"):
            root.push(collection, content)
        painter.act = find
        root.push(collection, b"three")
        found = services.versions.find(collection, "v3")
        with services.database.reading() as session:
            event = session.scalars(select(Event).where(Event.kind == "version.quarantined")).one()

        assert ["1", "2", "3"] == sorted(root.versions(collection))
        assert (True, "check paint") == (found.is_suspicious, found.quarantine_reason)
        assert ("check paint", "The check paint found the content broken: it ends too early") == (
            event.data["reason"],
            event.data["message"],
        )
        (result,) = services.version_checks.of_collection(collection, 3)
        assert ("paint", "broken") == (result.name, result.outcome)
        assert 2 == services.versions.find(collection, "latest").number

    def test_the_strictest_of_a_guard_and_a_check_decides(self, root, painter, services):
        kept = root.create(minVersionSize=10, onSuspicious="keep").json["collection"]["id"]
        refused = root.create(minVersionSize=10, onSuspicious="refuse").json["collection"]["id"]
        painter.act = find

        assert 200 == root.push(kept, b"small").status_int
        assert 400 == root.push(refused, b"small").status_int
        assert "check paint" == services.versions.find(kept, "v1").quarantine_reason

    def test_a_file_is_marked(self, root, painter, caplog):
        painter.act = find

        assert 200 == root.upload(b"a file").status_int
        assert "found: it ends too early" in caplog.text


class TestNoOpinion:
    """A check that does not say what follows a finding."""

    @pytest.fixture(params=["quarantine", "mark"])
    def chosen(self, request):
        return request.param

    @pytest.fixture
    def ini(self, ini, chosen):
        # `quarantine` is the default.
        return ini | {"acme.on_finding": "no opinion"} | ({"checks.on_broken": chosen} if chosen == "mark" else {})

    def test_the_setting_of_the_service_decides(self, root, collection, painter, chosen):
        root.push(collection, b"one")
        painter.act = find

        answers = [root.push(collection, content).json["version"] for content in (b"two", b"three")]

        expected = (True, "check paint") if chosen == "quarantine" else (False, None)
        assert {expected} == {(answer["quarantined"], answer["quarantine_reason"]) for answer in answers}
        # The newest good one is not evicted for the broken ones.
        assert ["1", "2", "3"] == sorted(root.versions(collection))

    def test_a_finding_that_says_mark_keeps_it(self, root, collection, painter):
        def mark(content, context):
            raise Finding("it ends too early", on_finding="mark")

        painter.act = mark

        assert not root.push(collection, b"one").json["version"]["quarantined"]


class TestRefusing:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"acme.on_finding": "refuse"}

    def test_the_upload_has_an_error_of_its_own_and_changes_nothing(self, root, collection, painter, services):
        painter.act = find

        answer = root.push(collection, b"a dump")

        assert (400, 4017) == (answer.status_int, answer.json["error_code"])
        assert {"check": "paint", "message": "it ends too early"} == answer.json["context"]
        assert "The check paint found the content broken: it ends too early" == answer.json["message"]
        assert {"file": "an_upload_check_refused_the_content"} == answer.json["errors"]
        assert {} == root.versions(collection)
        assert [] == list(services.backends.get("local").list())

    def test_the_answer_to_a_finding_with_a_wrong_character_is_no_failure(self, root, collection, painter):
        def name_member(content, context):
            raise Finding("the member a\udcff is cut")

        painter.act = name_member

        answer = root.push(collection, b"a dump")

        assert (400, "the member a\ufffd is cut") == (answer.status_int, answer.json["context"]["message"])

    def test_a_finding_may_be_marked_only(self, root, collection, painter):
        def mark(content, context):
            raise Finding("it ends too early", on_finding="mark")

        painter.act = mark

        assert 200 == root.push(collection, b"a dump").status_int

    def test_a_file_is_refused_the_same_way(self, root, painter):
        painter.act = find

        answer = root.upload(b"a dump")

        assert (400, 4017) == (answer.status_int, answer.json["error_code"])

    def test_a_good_content_is_accepted(self, root, collection, painter):
        assert 200 == root.push(collection, b"a dump").status_int

    def test_a_check_that_fails_refuses_nothing(self, root, collection, painter):
        painter.act = leave

        assert 200 == root.push(collection, b"a dump").status_int
