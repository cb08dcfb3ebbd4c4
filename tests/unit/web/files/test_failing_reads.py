"""A storage whose reader fails at its first byte: 503 in the form of each API, named in the log."""

from errno import EIO

import pytest

from frepo_core.services.content.storages.guarded_storage import GuardedStorage
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage

CONTENT = bytes(range(256)) * 4000


def broken():
    return OSError(EIO, "bad sector")


@pytest.fixture(params=["local files", "streams"])
def name(request, services, uploader):
    """Upload a file into a storage that then fails when its bytes are read."""
    inner = services.backends.get("local") if request.param == "local files" else MemoryStorage()
    faulty = FaultyStorage(inner)
    services.backends._built["local"] = GuardedStorage(faulty, "the storage of frepo-storage-broken")
    name = uploader.upload(CONTENT).json["filename"]
    faulty.faults.append(Fail("open", nth=0, after=0, error=broken))
    return name


def test_it_is_a_503_of_the_first_api(name, anonymous, caplog):
    for headers in [{}, {"Range": "bytes=1000-900000"}]:
        answer = anonymous.download(name, headers=headers)

        assert (503, 7016103) == (answer.status_int, answer.json["error_code"]), headers
        assert "the storage of frepo-storage-broken failed in read(): OSError" in caplog.text, headers


def test_it_is_a_problem_of_the_second_api(name, root, caplog):
    answer = root.call("GET", f"/api/v1/files/{name}/content", headers={"Authorization": f"Bearer {root.token}"})

    assert (503, "application/problem+json") == (answer.status_int, answer.content_type)
    assert "the storage of frepo-storage-broken failed in read(): OSError" in caplog.text
