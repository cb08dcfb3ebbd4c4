"""Fixtures that every suite shares: the service in this process, and as a process of its own."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from webtest import TestApp

from frepo_core.db import migrations
from frepo_core.domain.roles import Role
from frepo_core.services import Services, assemble
from frepo_core.services.tokens import NewToken
from frepo_core.web import make_app
from required import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401  # hooks
from servers.service import Service

pytest_plugins = ["databases"]

PHRASE = "a phrase for tests"

# How long an example takes says more about the machine than about the rule.
hypothesis.settings.register_profile("frepo", deadline=None)
hypothesis.settings.load_profile("frepo")


@pytest.fixture
def ini(tmp_path: Path, database_url: str) -> dict[str, str]:
    """Settings of a service in this process; a test changes what it is about before it asks for `services`."""
    return {
        "app.env": "test",
        "app.secret": "a secret for tests",
        "enc.token_phrase": PHRASE,
        "database.url": database_url,
        "fs.adapter": "local",
        "fs.local.directory": str(tmp_path / "storage"),
        "temp_directory": str(tmp_path / "temporary"),
        "ids_mapping.file": str(tmp_path / "ids_mapping.yaml"),
    }


@pytest.fixture
def services(ini: dict[str, str]) -> Iterator[Services]:
    """The use cases over a fresh, migrated database."""
    services = assemble(ini, {})
    migrations.upgrade(services.database.engine)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def make_token(services: Services) -> Callable[..., str]:
    """Make a token: `make_token(Role.UPLOAD_ALL, tags=["a"])`; it never expires unless `expires` says so."""

    def make(*roles: Role, **more: Any) -> str:
        return services.tokens.generate(NewToken(roles=roles, **({"expires": "never"} | more))).id

    return make


@pytest.fixture
def admin(make_token: Callable[..., str]) -> str:
    return make_token(Role.ADMINISTRATOR)


@pytest.fixture
def app(services: Services) -> TestApp:
    """The web application, called in this process; commits are real."""
    return TestApp(make_app(services))


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Start real services under waitress, as processes; keyword arguments are environment variables."""
    running: list[Service] = []
    counter = itertools.count()

    def start(**environment: str) -> Service:
        folder = tmp_path / f"service-{next(counter)}"
        folder.mkdir()
        service = Service(folder, environment)
        running.append(service)
        service.start()
        return service

    yield start
    for service in running:
        service.stop()


@pytest.fixture
def service(start_service: Callable[..., Service]) -> Service:
    """One real service on SQLite and a local directory, with an administrator's token in `service.admin`."""
    return start_service()
