"""The fixture `frepo_service`: a whole service for the tests of a plug-in."""

import threading
import time

import pytest

from frepo_core.plugins import CheckResult, Finding, Subscriber, UploadCheck
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing import UploadCheckContract
from frepo_core.testing.running_service import RunningService


def check(content, context):
    """Find contents that begin with `broken`."""
    with content.open() as file:
        head = file.read(6)
    if head == b"broken":
        raise Finding("it says so")
    return CheckResult(outcome="good" if head.startswith(b"good") else "not checked")


CHECK = UploadCheck(name="paint", run=check, applies_to=("versions", "files"))


@pytest.fixture
def service(tmp_path, caplog):
    plugin = FoundPlugin(name="acme", distribution="acme-paint", version="1", upload_checks=[CHECK])
    service = RunningService(tmp_path / "frepo", {"backup.max_versions": "9"}, caplog, (plugin,))
    yield service
    service.close()


def test_it_serves_the_api_with_tokens(frepo_service):
    uploader = frepo_service.make_token("upload.all")
    answer = frepo_service.request("POST", "/repository/file/upload?fileName=a.txt", b"a picture", token=uploader)

    content = frepo_service.request("GET", answer.json["url"], token="")

    assert (200, b"a picture", "9") == (content.status, content.body, content.headers["content-length"])
    assert 403 == frepo_service.request("GET", "/version", token="").status
    assert "added by token" in frepo_service.log


@pytest.mark.costly
def test_it_keeps_versions(frepo_service):
    collection = frepo_service.make_collection(max_versions=2)

    for content in (b"one", b"two", b"three"):
        frepo_service.push(collection, content)

    assert [2, 3] == frepo_service.versions(collection)


@pytest.mark.costly
def test_it_runs_commands_over_its_data(frepo_service):
    collection = frepo_service.make_collection(filename="orders.sql")
    frepo_service.push(collection, b"a dump")

    listed = frepo_service.run("backup:list", "-f", "value", "-c", "Id", "-c", "Versions")
    tokens = frepo_service.run("auth:list", "-f", "value", "-c", "Roles")
    plugins = frepo_service.run("plugins", "-f", "value", "-c", "Entry point")
    wrong = frepo_service.run("backup:show", "nothing")

    assert (0, f"{collection} 1\n", "") == (listed.status, listed.output, listed.errors)
    assert (0, "security.administrator\n") == (tokens.status, tokens.output)
    assert (0, True) == (plugins.status, "strategies" in plugins.output.split())
    assert (1, "") == (wrong.status, wrong.output)
    assert "frepo: " in wrong.errors
    assert "added by token" in frepo_service.log


COMMAND = """
from frepo_core.cli import FrepoCommand


class Show(FrepoCommand):
    def take_action(self, arguments):
        self.storage("local").check()
        self.say(self.read_ini()["fs.local.directory"])
        self.say(str(self.plugin_context("local").service.statistics().collections))
"""


class TestCommandOfAPackage:
    @pytest.fixture
    def frepo_service_settings(self, tmp_path, monkeypatch):
        information = tmp_path / "packages" / "acme-1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text("[frepo.commands]\nacme:show = acme_show:Show\n")
        (tmp_path / "packages" / "acme_show.py").write_text(COMMAND)
        monkeypatch.syspath_prepend(tmp_path / "packages")
        (tmp_path / "100 %").mkdir()
        return {"fs.local.directory": str(tmp_path / "100 %")}

    def test_it_has_the_settings_and_the_data_of_the_service(self, frepo_service, tmp_path):
        frepo_service.make_collection()

        result = frepo_service.run("acme:show")

        assert (0, f"{tmp_path / '100 %'}\n1\n", "") == (result.status, result.output, result.errors)


def test_it_runs_a_plugin_that_is_not_installed(service):
    collection = service.make_collection(max_versions=5)

    service.push(collection, b"good dump")
    service.push(collection, b"broken dump")

    assert [("good", ""), ("broken", "it says so")] == [service.checks(collection, n)["paint"] for n in (1, 2)]
    assert "frepo_core.plugins.acme" == service.context("acme").log.name


class TestSubscribers:
    @pytest.fixture
    def handled(self):
        return []

    @pytest.fixture
    def plugin(self, handled):
        def handle(event, context):
            if event.data["size"] > 5:
                raise ValueError("too large")
            time.sleep(0.1)
            handled.append((event.kind, event.version_number))

        subscriber = Subscriber(name="slow", kinds=["version.added"], handle=handle)
        idle = Subscriber(name="idle", kinds=["file.added"], handle=handle)
        return FoundPlugin(name="acme", distribution="acme-paint", version="1", subscribers=[subscriber, idle])

    @pytest.fixture
    def make_service(self, tmp_path, caplog, plugin):
        services = []

        def make_service(settings):
            services.append(RunningService(tmp_path / "frepo", settings, caplog, (plugin,)))
            return services[-1]

        yield make_service
        for service in services:
            service.close()

    @pytest.mark.costly
    def test_they_have_handled_everything_after_the_wait(self, make_service, handled):
        service = make_service({})
        collection = service.make_collection()
        service.wait_for_subscribers()
        assert [] == handled

        for content in (b"one", b"two", b"three"):
            service.push(collection, content)
        service.wait_for_subscribers()

        assert [("version.added", number) for number in (1, 2, 3)] == handled

    @pytest.mark.costly
    def test_one_that_fails_ends_the_wait(self, make_service):
        service = make_service({})
        service.push(service.make_collection(), b"a large dump")

        with pytest.raises(RuntimeError, match="the subscriber 'slow' failed: .*too large"):
            service.wait_for_subscribers()

    def test_without_a_worker_the_wait_ends(self, make_service):
        service = make_service({"worker.in_process": "false"})

        with pytest.raises(TimeoutError, match=r"after 0\.1 seconds .*: idle, slow$"):
            service.wait_for_subscribers(0.1)


class TestContract(UploadCheckContract):
    @pytest.fixture
    def check(self):
        return CHECK

    @pytest.fixture
    def good(self):
        return b"good dump"

    @pytest.fixture
    def broken(self):
        return b"broken dump"


def test_a_subscriber_that_fails_is_logged_with_its_package(tmp_path, caplog):
    told = threading.Event()

    def fail(event, context):
        told.set()
        raise ValueError("out of paint")

    subscriber = Subscriber(name="painter", kinds=["version.added"], handle=fail)
    plugin = FoundPlugin(name="acme", distribution="acme-paint", version="1", subscribers=[subscriber])
    service = RunningService(tmp_path / "frepo", {}, caplog, (plugin,))
    try:
        service.push(service.make_collection(), b"dump")
        assert told.wait(30)
    finally:
        service.close()

    (line,) = [line for line in service.log.splitlines() if "failed to handle" in line]
    assert "the plug-in 'acme' of the package acme-paint 1: the subscriber painter failed to handle event" in line


class TestContractOfACheckThatKnowsEveryContent(UploadCheckContract):
    @pytest.fixture
    def check(self):
        def search(content, context):
            with content.open() as file:
                if b"red" in file.read():
                    raise Finding("it is red")
            return CheckResult(outcome="good")

        return UploadCheck(name="search", run=search)

    @pytest.fixture
    def good(self):
        return b"blue"

    @pytest.fixture
    def broken(self):
        return b"a red one"

    @pytest.fixture
    def unknown(self):
        return None
