"""Upload checks of plug-ins in the write path: what they see, what follows a finding, and what follows a failure."""

import shutil
import threading
from pathlib import Path

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import CheckResult, Finding, PluginRegistry, PluginSettings, SettingsSpec, UploadCheck
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.services.container import assemble
from support.client import Client

ORIGIN = "the check 'paint' (the plug-in 'acme' of the package acme-paint 1.2.3)"
GOOD = CheckResult(outcome="good")


class Settings(PluginSettings):
    on_finding: str = "mark"


class Painter:
    """Runs what the test sets, and remembers what it saw."""

    def __init__(self):
        self.act = lambda content, context: GOOD
        self.seen = []

    def __call__(self, content, context):
        with content.open() as file:
            self.seen.append((content.file_name, content.mime_type, content.size, content.sha256, file.read()))
        return self.act(content, context)


@pytest.fixture
def painter():
    return Painter()


@pytest.fixture
def plugins(painter):
    acme = FoundPlugin(
        name="acme",
        distribution="acme-paint",
        version="1.2.3",
        upload_checks=[
            UploadCheck(
                name="paint",
                run=painter,
                on_finding=lambda settings: settings.on_finding,
                applies_to=("versions", "files"),
            )
        ],
        settings=[SettingsSpec(prefix="acme", model=Settings)],
    )
    others = [plugin for plugin in PluginRegistry.from_entry_points().found if not plugin.upload_checks]
    return PluginRegistry([*others, acme])


@pytest.fixture
def open_services(migrated, plugins):
    def assembled(folder, ini):
        shutil.copy(migrated, folder / "frepo.db")
        return assemble(ini, {}, plugins)

    return assembled


@pytest.fixture
def root(app, admin):
    return Client(app, admin)


@pytest.fixture
def collection(root):
    return root.create(maxBackupsCount=2).json["collection"]["id"]


def find(content, context):
    raise Finding("it ends too early", details={"bytes": 3})


def leave(content, context):
    raise SystemExit(3)


def test_a_check_sees_the_content_the_collection_and_its_settings(root, collection, painter):
    seen = []
    painter.act = lambda content, context: (seen.append((content.collection.id, context.settings.on_finding)), GOOD)[1]

    answer = root.push(collection, b"a dump")

    ((_, mime, size, sha256, data),) = painter.seen
    assert 200 == answer.status_int
    assert (b"a dump", 6, "text/plain", 64) == (data, size, mime, len(sha256))
    assert [(collection, "mark")] == seen


def test_a_file_has_no_collection(root, painter):
    seen = []
    painter.act = lambda content, context: (seen.append((content.collection, content.file_name)), GOOD)[1]

    root.upload(b"a picture", fileName="a.txt")

    assert [(None, "a.txt")] == seen


@pytest.mark.parametrize("size", [10, 3 << 20])
def test_the_content_is_stored_whole_whatever_a_check_reads(root, collection, painter, size):
    content = b"0123456789" * (size // 10)

    def read_parts(checked, context):
        one, other = checked.open(), checked.open()
        one.seek(5)
        other.seek(-1, 2)
        assert (content[5:8], content[-1:], 5 + 3) == (one.read(3), other.read(), one.tell())
        one.close()
        return GOOD

    painter.act = read_parts
    root.push(collection, content)

    assert content == root.get(f"/repository/collection/{collection}/backup/latest").follow().body


def test_a_thread_that_a_check_left_behind_cannot_read_on(root, collection, painter):
    kept = []
    painter.act = lambda content, context: (kept.append(content.open()), GOOD)[1]
    root.push(collection, b"a dump")

    with pytest.raises(ValueError, match="The check has returned"):
        kept[0].read()


def test_a_finding_is_logged_and_the_version_accepted(root, collection, painter, caplog):
    painter.act = find

    answer = root.push(collection, b"a dump")

    assert 200 == answer.status_int
    assert f"collection {collection}: version 1: {ORIGIN} found: it ends too early" in caplog.text


@pytest.mark.parametrize(
    ("act", "expected"),
    [
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
    ],
)
def test_what_a_check_said_is_recorded_with_the_version(root, collection, painter, services, act, expected):
    painter.act = act
    root.push(collection, b"a dump")

    (found,) = [one for one in services.version_checks.of_collection(collection, 1) if one.name == "paint"]

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


class TestOff:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"acme.on_finding": "off"}

    def test_the_check_is_not_run(self, root, collection, painter):
        root.push(collection, b"a dump")

        assert [] == painter.seen


@pytest.mark.parametrize("chosen", ["loudly", "quarantine"])
def test_a_setting_for_findings_that_does_not_exist_stops_the_start(ini, plugins, chosen):
    with pytest.raises(ConfigurationError) as caught:
        assemble(ini | {"acme.on_finding": chosen}, {}, plugins)

    expected = (ORIGIN, repr(chosen), "Setting acme.on_finding (ACME_ON_FINDING)", "off, mark or refuse")
    assert [] == [text for text in expected if text not in str(caught.value)]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda content, context: 1 / 0, "ZeroDivisionError"),
        (leave, "SystemExit"),
        (lambda content, context: None, "returned None, which is not a CheckResult"),
        (lambda content, context: CheckResult(outcome="fine"), "'fine'"),
        (lambda content, context: content.open().seek(-1), "before the start"),
    ],
)
def test_a_check_that_fails_is_logged_and_the_content_accepted(root, collection, painter, caplog, act, reason):
    painter.act = act

    answer = root.push(collection, b"a dump")

    failures = [record for record in caplog.records if ORIGIN in record.getMessage()]
    assert (200, 1) == (answer.status_int, len(failures))
    assert reason in caplog.text


def test_an_interrupt_that_a_check_raises_does_not_end_a_thread_of_the_service(root, collection, painter, caplog):
    def interrupt(content, context):
        raise KeyboardInterrupt

    painter.act = interrupt
    answers = []
    thread = threading.Thread(target=lambda: answers.append(root.push(collection, b"a dump")))
    thread.start()
    thread.join()

    assert [200] == [answer.status_int for answer in answers]
    assert ORIGIN in caplog.text


def test_no_transaction_is_open_while_a_check_runs(root, collection, painter, services):
    checked_out = []
    painter.act = lambda content, context: (checked_out.append(services.database.engine.pool.checkedout()), GOOD)[1]

    root.push(collection, b"a dump")

    assert [0] == checked_out
