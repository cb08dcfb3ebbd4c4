"""Fixtures: the blobs of a service, to be encoded, and the contents of a database's nights."""

import pytest

from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def blobs(services):
    return StoredBlobs(services)


@pytest.fixture(scope="module")
def contents():
    """Four nights, each of several segments."""
    return list(nights(4, 3000))


@pytest.fixture
def uploaded(contents, upload):
    """The same, uploaded one after the other: their stored names."""
    return [upload(content, f"{number}.sql").file.stored_name for number, content in enumerate(contents)]


@pytest.fixture
def download(app, admin):
    """Download a file by its stored name, as a client does."""

    def download(name, status=200, **headers):
        return app.get(
            f"/api/v1/files/{name}/content", headers={"Authorization": f"Bearer {admin}"} | headers, status=status
        )

    return download
