"""A commit whose process has ended: whether its content was stored is known, also if another upload has the same."""

import pytest

from frepo_core.domain.roles import Role
from frepo_core.plugins import StorageUnavailable
from frepo_uploads.commits import Commits
from support.tus.client import Tus

CONTENT = b"-- PostgreSQL database dump\nselect 1;\n" * 100
SIZE = len(CONTENT)


@pytest.fixture
def breaks(services, monkeypatch):
    """Let the next commit end as if its process did: `breaks(stored=True)` after the version was committed."""
    service_class = type(services.contexts["uploads"].service)

    def breaks(*, stored, method="add_version"):
        right = getattr(service_class, method)

        def broken(self, *arguments, **more):
            monkeypatch.setattr(service_class, method, right)
            if stored:
                right(self, *arguments, **more)
            raise StorageUnavailable("The process has ended")

        monkeypatch.setattr(service_class, method, broken)

    monkeypatch.setattr(Commits, "_take_back", lambda *_: None)
    return breaks


def test_a_stored_version_is_found(tus, collection, contents, breaks):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    breaks(stored=True)
    tus.patch(path, 10, CONTENT[10:])
    again = tus.patch(path, SIZE, b"")

    assert (SIZE, 204) == (tus.offset(path), again.status_int)
    assert again.headers["Content-Location"].endswith(f"/collections/{collection}/versions/v1")
    assert [CONTENT] == contents()


def test_a_version_of_another_upload_is_not_taken_for_it(tus, collection, contents, breaks):
    path, other = (tus.create(SIZE, CONTENT[:10], collection=collection) for _ in range(2))
    breaks(stored=False)
    tus.patch(path, 10, CONTENT[10:])
    tus.patch(other, 10, CONTENT[10:])

    assert 10 == tus.offset(path)
    assert tus.patch(path, 10, CONTENT[10:]).headers["Content-Location"].endswith("/v2")
    assert [CONTENT, CONTENT] == contents()


def test_a_stored_file_is_found(app, make_token, breaks):
    tus = Tus(app, make_token(Role.UPLOAD_ALL))
    path = tus.create(SIZE, CONTENT[:10], filename="dump.sql")
    breaks(stored=True, method="upload_file")
    tus.patch(path, 10, CONTENT[10:])
    again = tus.patch(path, SIZE, b"")

    assert (SIZE, 204) == (tus.offset(path), again.status_int)
    assert CONTENT == app.get(again.headers["Content-Location"] + "/content", headers={"X-Auth-Token": tus.token}).body
