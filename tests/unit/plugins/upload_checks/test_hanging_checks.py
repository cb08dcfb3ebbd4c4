"""Upload checks that do not return: each run has a deadline, and only a few threads of a check may hang."""

import threading
import time

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import CheckResult, PluginSettings, SettingsSpec, UploadCheck
from frepo_core.services.base import plugin_deadlines
from support.own_plugins import acme_plugin, registry_with

ORIGIN = "the check 'slow' (the plug-in 'acme' of the package acme-paint 1.2.3)"
GOOD = CheckResult(outcome="good")
FEW = 4


class Settings(PluginSettings):
    deadline: float = 0.2


class Slow:
    """A check that returns when the test says so."""

    def __init__(self):
        self.deadline = None  # that of the setting
        self.runs = 0
        self.may_return = threading.Event()

    def __call__(self, content, context):
        self.runs += 1
        self.may_return.wait(60)
        return GOOD

    def let_return(self):
        """Return from all runs, for which a busy machine gets time."""
        self.deadline = 60
        self.may_return.set()


@pytest.fixture
def slow():
    slow = Slow()
    yield slow
    slow.may_return.set()


@pytest.fixture
def plugins(slow):
    acme = acme_plugin(
        "acme-paint",
        upload_checks=[
            UploadCheck(name="slow", run=slow, deadline=lambda settings: slow.deadline or settings.deadline),
            UploadCheck(name="quick", run=lambda content, context: GOOD),
        ],
        settings=[SettingsSpec(prefix="acme", model=Settings)],
    )
    return registry_with(acme)


@pytest.fixture
def collection(root):
    return root.create(maxBackupsCount=20).json["collection"]["id"]


@pytest.fixture
def results(services, collection):
    """What the checks said about a version: outcome and message by name."""
    return lambda number: {
        one.name: (one.outcome, one.message) for one in services.version_checks.of_collection(collection, number)
    }


def hanging_threads():
    return [thread for thread in threading.enumerate() if thread.name == "upload check slow"]


def test_a_check_that_hangs_is_left_behind_and_the_version_accepted(root, collection, results, caplog):
    assert 200 == root.push(collection, b"a dump").status_int

    assert ("not checked", "The check did not return within 0.2 seconds") == results(1)["slow"]
    assert ("good", "") == results(1)["quick"]
    (line,) = [record.getMessage() for record in caplog.records if ORIGIN in record.getMessage()]
    assert "did not return within 0.2 seconds" in line
    assert b"a dump" == root.get(f"/repository/collection/{collection}/backup/v1").follow().body


def test_a_check_of_which_some_hang_is_not_run_again_before_one_returns(root, collection, results, slow, caplog):
    for number in range(FEW):
        root.push(collection, b"%d" % number)
    started = time.monotonic()

    for number in range(FEW, FEW + 5):
        root.push(collection, b"%d" % number)

    assert time.monotonic() - started < 50  # without a wait of a minute, which is the deadline of most checks
    assert (FEW, FEW) == (slow.runs, len(hanging_threads()))
    message = "The check was not run, because 4 earlier runs of it have not returned"
    assert {"slow": ("not checked", message), "quick": ("good", "")} == results(FEW + 5)
    assert 5 == sum(message in record.getMessage() and ORIGIN in record.getMessage() for record in caplog.records)


def test_a_check_that_returned_late_is_run_again(root, collection, results, slow, monkeypatch):
    monkeypatch.setattr(plugin_deadlines, "KEPT_SECONDS", 0.05)
    for number in range(FEW):
        root.push(collection, b"%d" % number)
    slow.let_return()
    for thread in hanging_threads():
        thread.join(60)

    root.push(collection, b"a dump")

    assert ("good", "") == results(FEW + 1)["slow"]


@pytest.mark.costly
def test_checks_that_run_at_the_same_time_do_not_hang(root, collection, results, slow):
    """More uploads at once than runs may hang, and all of them are checked."""
    slow.let_return()
    threads = [threading.Thread(target=root.push, args=(collection, b"%d" % number)) for number in range(2 * FEW)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert ["good"] * 2 * FEW == [results(number + 1)["slow"][0] for number in range(2 * FEW)]


class TestLongDeadline:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"acme.deadline": "20"}

    def test_only_a_few_uploads_wait_until_the_deadline(self, root, collection, results, slow):
        """The others would keep the threads of the service."""
        waiting = [threading.Thread(target=root.push, args=(collection, b"%d" % number)) for number in range(FEW)]
        for thread in waiting:
            thread.start()
        while slow.runs < FEW:
            time.sleep(0.01)

        assert 200 == root.push(collection, b"another").status_int

        assert ("not checked", "The check did not return within 1 seconds") == results(1)["slow"]
        slow.may_return.set()
        for thread in waiting:
            thread.join()
        assert ["good"] * FEW == [results(number)["slow"][0] for number in range(2, 2 + FEW)]


def test_a_check_without_a_deadline_has_one():
    assert 60 == UploadCheck(name="old", run=lambda content, context: GOOD).deadline


def test_a_deadline_is_a_number_of_seconds():
    for deadline in [0, -1, float("nan"), "60", None, True]:
        with pytest.raises(ValueError, match=r"deadline is .*; write seconds above 0"):
            UploadCheck(name="old", run=lambda content, context: GOOD, deadline=deadline)
            pytest.fail(repr(deadline))


def test_a_deadline_of_the_settings_that_is_none_stops_the_start(ini, plugins):
    with pytest.raises(ConfigurationError) as caught:
        assemble(ini | {"acme.deadline": "0"}, {}, plugins).build_all()

    assert f"{ORIGIN} cannot be used: ValueError: deadline is 0.0; write seconds above 0" in str(caught.value)
