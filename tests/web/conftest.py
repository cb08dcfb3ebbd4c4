"""Fixtures of the web suite: callers with the roles that a test is about, and collections."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from webtest import TestApp

from frepo_core.db import make_engine, migrations
from frepo_core.domain.roles import Role
from frepo_core.services import Services, assemble
from web.client import COLLECTIONS, Client


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """Settings that differ from the usual; see `with_settings`."""
    return getattr(request, "param", {})


@pytest.fixture
def ini(ini: dict[str, str], settings: dict[str, str]) -> dict[str, str]:
    return ini | settings


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database; copying it is faster than migrating for each of many hundred tests."""
    path = tmp_path_factory.mktemp("database") / "frepo.db"
    engine = make_engine(f"sqlite:///{path}")
    migrations.upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def open_services(migrated: Path) -> Callable[..., Services]:
    """Assemble services over a migrated database `frepo.db` in a folder."""

    def assembled(folder: Path, ini: dict[str, str]) -> Services:
        shutil.copy(migrated, folder / "frepo.db")
        services = assemble(ini | {"database.url": f"sqlite:///{folder}/frepo.db"}, {})
        event.listen(services.database.engine, "connect", _skip_syncs)
        return services

    return assembled


@pytest.fixture
def services(
    open_services: Callable[..., Services], database_kind: str, tmp_path: Path, ini: dict[str, str]
) -> Iterator[Services]:
    """The services over the database that the test runs on; the servers' tables are made already."""
    services = open_services(tmp_path, ini) if database_kind == "sqlite" else assemble(ini, {})
    yield services
    services.database.engine.dispose()


def _skip_syncs(connection: Any, record: Any) -> None:
    """Commits are real here; that they survive a power cut is the live suite's affair."""
    connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def stranger(app: TestApp) -> Client:
    """Someone without a token."""
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
    """Someone who may upload everything and nothing else."""
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
def member(holder: Callable[..., Client], root: Client, collection: str) -> Callable[..., Client]:
    """Make a caller whose token is on the list of `collection`."""

    def make(*roles: Role, **more: Any) -> Client:
        caller = holder(*roles, **more)
        root.post(f"/repository/collection/{collection}/token", {"token": caller.token})
        return caller

    return make


@pytest.fixture
def lister(member: Callable[..., Client]) -> Client:
    """Someone who may read the versions of `collection` and nothing else."""
    return member(Role.LIST_VERSIONS)


@pytest.fixture
def three(root: Client, collection: str) -> str:
    """The path of the collection's three versions."""
    for content in (b"one", b"two", b"three"):
        root.push(collection, content)
    return f"{COLLECTIONS}/{collection}/backup"
