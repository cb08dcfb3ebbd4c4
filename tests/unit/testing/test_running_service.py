"""The fixture `frepo_service`: a whole service for the tests of a plug-in."""

import pytest

from frepo_core.plugins import CheckResult, Finding, UploadCheck
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


def test_it_keeps_versions(frepo_service):
    collection = frepo_service.make_collection(max_versions=2)

    for content in (b"one", b"two", b"three"):
        frepo_service.push(collection, content)

    assert [2, 3] == frepo_service.versions(collection)


def test_it_runs_a_plugin_that_is_not_installed(service):
    collection = service.make_collection(max_versions=5)

    service.push(collection, b"good dump")
    service.push(collection, b"broken dump")

    assert [("good", ""), ("broken", "it says so")] == [service.checks(collection, n)["paint"] for n in (1, 2)]
    assert "frepo_core.plugins.acme" == service.context("acme").log.name


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
