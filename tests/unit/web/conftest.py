"""Fixtures of the web suite: callers with the roles that a test is about, and collections."""

from collections.abc import Callable
from typing import Any

import pytest
from webtest import TestApp, TestResponse

from frepo_core.domain.roles import Role
from support.client import COLLECTIONS, Client


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings that differ from the defaults; see `with_settings`."""
    return getattr(request, "param", {})


@pytest.fixture
def ini(ini: dict[str, str], settings: dict[str, str]) -> dict[str, str]:
    return ini | settings


@pytest.fixture
def anonymous(app: TestApp) -> Client:
    """A caller without a token."""
    return Client(app)


@pytest.fixture
def root(app: TestApp, admin: str) -> Client:
    """An administrator."""
    return Client(app, admin)


@pytest.fixture
def holder(app: TestApp, make_token: Callable[..., str]) -> Callable[..., Client]:
    """Make a caller: `holder(Role.UPLOAD_ALL, tags=["a"])`."""

    def make(*roles: Role, **more: Any) -> Client:
        return Client(app, make_token(*roles, **more))

    return make


@pytest.fixture
def uploader(holder: Callable[..., Client]) -> Client:
    """A caller that may only upload, with every type."""
    return holder(Role.UPLOAD_ALL)


@pytest.fixture
def collection(root: Client) -> str:
    """A collection, made by the administrator."""
    return str(root.create().json["collection"]["id"])


@pytest.fixture
def make_collection(root: Client) -> Callable[..., str]:
    """Make a collection with the given fields; return its id."""
    return lambda **form: str(root.create(**form).json["collection"]["id"])


@pytest.fixture
def push(app: TestApp, admin: str) -> Callable[..., TestResponse]:
    """Push a version: `push(collection, b"content", If_Match="v1")`; return the response."""

    def push(collection: str, content: bytes, status: int = 200, **headers: str) -> TestResponse:
        return _send(app, f"{COLLECTIONS}/{collection}/backup", content, admin, status, headers)

    return push


@pytest.fixture
def upload(app: TestApp, admin: str) -> Callable[..., TestResponse]:
    """Upload a file: `upload(b"content", name="a.txt", Idempotency_Key="k1")`; return the response."""

    def upload(
        content: bytes, name: str = "a.txt", status: int | None = None, token: str = admin, **headers: str
    ) -> TestResponse:
        return _send(app, f"/repository/file/upload?fileName={name}", content, token, status, headers)

    return upload


def _send(
    app: TestApp, path: str, content: bytes, token: str, status: int | None, headers: dict[str, str]
) -> TestResponse:
    named = {"X-Auth-Token": token} | {name.replace("_", "-"): value for name, value in headers.items()}
    return app.post(path, content, content_type="application/octet-stream", headers=named, status=status)


@pytest.fixture
def member(holder: Callable[..., Client], root: Client, collection: str) -> Callable[..., Client]:
    """Make a caller whose token is on the list of `collection`."""

    def make(*roles: Role, **more: Any) -> Client:
        caller = holder(*roles, **more)
        root.post(f"/repository/collection/{collection}/token", {"token": caller.token})
        return caller

    return make


@pytest.fixture
def lister(member: Callable[..., Client]) -> Client:
    """A caller that may only read the versions of `collection`."""
    return member(Role.LIST_VERSIONS)


@pytest.fixture
def three(root: Client, collection: str) -> str:
    """The path of the collection's three versions."""
    for content in (b"one", b"two", b"three"):
        root.push(collection, content)
    return f"{COLLECTIONS}/{collection}/backup"
