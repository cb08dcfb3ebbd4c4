"""A service with a plug-in that writes, and the tokens in whose name it does."""

import time

import pytest

from frepo_core.domain.roles import Role
from frepo_core.plugins import Checksums
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing.running_service import RunningService

DUMP = b"-- a dump\nCREATE TABLE colours (name text);\n" * 100


def told(running, kind, **expected):
    """Return the newest event of a kind with these values, once the worker has numbered it."""
    deadline = time.monotonic() + 30
    while not (
        found := [
            event
            for event in running.request("GET", f"/api/v1/events?kind={kind}").json["items"]
            if expected.items() <= event.items()
        ]
    ):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found[0]


@pytest.fixture
def offers():
    """What the plug-in offers: fields of `FoundPlugin`."""
    return {}


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "storage").mkdir()
    directory = str(tmp_path / "storage")
    return {"fs.adapter": "local", "fs.local.directory": directory, "trash.min_free": "0"}


@pytest.fixture
def running(tmp_path, settings, offers, caplog):
    caplog.set_level("INFO")
    plugin = FoundPlugin(name="acme", distribution="acme-paint", version="1.2.3", **offers)
    running = RunningService(tmp_path / "frepo", settings, caplog, (plugin,))
    yield running
    running.close()


@pytest.fixture
def service(running):
    """`context.service` of the plug-in."""
    return running.context("acme").service


@pytest.fixture
def identify(service):
    """Return the identity of a token, as `request.sender` is."""
    return lambda token: service.identify(token, address="192.0.2.7")


@pytest.fixture
def collection(running):
    return running.make_collection(max_versions=3)


@pytest.fixture
def uploader(running, identify, collection):
    """The identity of a token that may upload to the collection."""
    by = identify(running.make_token(Role.UPLOAD_VERSIONS.value))
    running.request("PUT", f"/api/v1/collections/{collection}/access/{by.fingerprint}")
    return by


@pytest.fixture
def checksums():
    def checksums(content):
        sums = Checksums()
        sums.update(content)
        return sums

    return checksums


@pytest.fixture
def spooled(tmp_path):
    """Write a content to a file with a name, as a plug-in does with the parts that arrive."""

    def spooled(content=DUMP):
        path = tmp_path / "session"
        path.write_bytes(content)
        return path

    return spooled
