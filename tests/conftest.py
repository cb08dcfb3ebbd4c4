"""Fixtures that every suite shares: the service in this process, and as a process of its own."""

import functools
import gc
import itertools
import logging
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from sqlalchemy import Engine
from webtest import TestApp
from xdist.scheduler import LoadFileScheduling

from frepo_core import assemble
from frepo_core.db import make_engine, migrations
from frepo_core.domain.roles import Role
from frepo_core.features import assembly
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access import passwords
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.composition.container import Services
from frepo_core.web import all_endpoints, make_app
from support.installation.environments import build_wheels
from support.required import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401  # hooks
from support.scale import HAS_FEATURES, IS_ALL, IS_BIG
from support.servers.fork_server import ForkedService, ForkServer
from support.servers.service import IS_STOCK, Service

pytest_plugins = ["support.databases", "support.logs.secret_watch", "support.logs.server_logs"]

PHRASE = "phrase-5ecre7"

# How long an example takes says more about the machine than about the rule.
hypothesis.settings.register_profile("frepo", deadline=None, max_examples=100 if IS_BIG else 30)
hypothesis.settings.load_profile("frepo")


def pytest_configure() -> None:
    """Let the processes of the tests be interrupted, although a shell makes its background jobs ignore SIGINT."""
    gc.disable()
    if not HAS_FEATURES:
        assembly.FEATURES = ()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Collect garbage seldom, and not among the collected tests: that took an eighth of the time."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()


# Browsers, servers and wheels that take seconds to make: one process runs all these modules, so that they share them.
TOGETHER = {
    "tests/browser/test_c": "browser 1",
    "tests/browser/": "browser 2",
    "tests/production/": "site",
    "tests/plugins/integrity/test_sql_dumps": "dumps",
    "tests/plugins/integrity/test_real_dumps": "dumps",
    "tests/plugins/storages/test_s3": "ceph",
    "tests/plugins/storages/test_ownership": "ceph",
    "tests/plugins/third_parties/": "wheels",
    "tests/project/test_tutorial": "wheels",
}


class SharingScheduler(LoadFileScheduling):
    """Gives each process a module after the other, and those of TOGETHER as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((name for start, name in TOGETHER.items() if file.startswith(start)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharingScheduler | None:
    """Let `--dist loadfile` do so."""
    return SharingScheduler(config, log) if config.getoption("dist") == "loadfile" else None


# The fixtures that start a server as a process.
SERVER_FIXTURES = {"fork_server", "postgresql_server", "mariadb_server"}


def _leaves_costly_out(config: pytest.Config) -> bool:
    return not IS_ALL and not any(one.partition("::")[0].endswith(".py") for one in config.args)


def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> list[pytest.Item] | None:
    """Make no tests of a costly function that is left out: they took a tenth of the time of finding all tests."""
    if not (_leaves_costly_out(collector.config) and collector.istestfunction(obj, name)):
        return None
    marks = [mark.name for mark in getattr(obj, "pytestmark", ())]
    return [] if "costly" in marks or collector.get_closest_marker("costly") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that start a server; skip what only frepo-server does if services run under stock waitress.

    Leave the costly values of tests out of the short form, except in a module that is named.
    """
    if _leaves_costly_out(config):
        costly = [item for item in items if item.get_closest_marker("costly")]
        config.hook.pytest_deselected(items=costly)
        items[:] = [item for item in items if not item.get_closest_marker("costly")]
    for item in items:
        if isinstance(item, pytest.Function) and SERVER_FIXTURES.intersection(item.fixturenames):
            item.add_marker(pytest.mark.server)
        if IS_STOCK and item.get_closest_marker("own_server"):
            item.add_marker(pytest.mark.skip(reason="FREPO_TEST_SERVER=stock: only frepo-server does this"))


@pytest.fixture
def ini(tmp_path: Path, database_url: str) -> dict[str, str]:
    """Settings of a service in this process; a test changes what it is about before it asks for `services`."""
    return {
        "app.env": "test",
        "app.secret": "app-5ecre7",
        "enc.token_phrase": PHRASE,
        "database.url": database_url,
        "fs.adapter": "local",
        "fs.local.directory": str(tmp_path / "storage"),
        "temp_directory": str(tmp_path / "temporary"),
        "ids_mapping.file": str(tmp_path / "ids_mapping.yaml"),
        "trash.min_free": "0",  # the tester's disk may be nearly full
        "database.reserve": "0",  # 16 MiB for each test
    }


@pytest.fixture(scope="session", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Hash passwords in this process at the least cost: the usual one takes a sixth of the time of `unit/web`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "COST", (8, 1, 1))
        yield


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of all distributions and of two examples."""
    return build_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def plugins() -> PluginRegistry:
    """The installed plug-ins; looking for them takes longer than most tests.

    `integrity` is left out: it adds a row and an event to each version. tests/plugins/integrity and services that run
    as processes have it.
    """
    return PluginRegistry.from_entry_points(["integrity"])


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database; copying it is faster than migrating for each of many hundred tests."""
    path = tmp_path_factory.mktemp("database") / "frepo.db"
    engine = make_engine(f"sqlite:///{path}")
    migrations.upgrade(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def open_services(
    migrated: Path, plugins: PluginRegistry, make_quick_engine: Callable[..., Engine]
) -> Callable[..., Services]:
    """Assemble services over a migrated database `frepo.db` in a folder."""

    def assembled(folder: Path, ini: dict[str, str], plugins: PluginRegistry = plugins) -> Services:
        shutil.copy(migrated, folder / "frepo.db")
        engine = make_quick_engine(f"sqlite:///{folder}/frepo.db")
        return assemble(ini | {"database.url": f"sqlite:///{folder}/frepo.db"}, {}, plugins, engine)

    return assembled


@pytest.fixture
def services(
    open_services: Callable[..., Services],
    plugins: PluginRegistry,
    engines: dict[str, Engine],
    tmp_path: Path,
    ini: dict[str, str],
) -> Iterator[Services]:
    """The use cases over the database that `ini` names; the usual SQLite is a copy of an empty one."""
    if engine := engines.get(ini["database.url"]):
        own = engine.execution_options()  # with listeners of its own, over the same pool
        yield assemble(ini, {}, plugins, own)
        return
    if ini["database.url"] == f"sqlite:///{tmp_path}/frepo.db":
        services = open_services(tmp_path, ini)
    else:
        services = assemble(ini, {}, plugins)
        migrations.make_ready(services.database.engine, upgrades=True)
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


@pytest.fixture(scope="session")
def make_test_app() -> Callable[[Services], TestApp]:
    """Make the web application, called in this process; it serves these services until the next call.

    Making one takes longer than most tests, so those with the same endpoints share one.
    """
    applications: dict[tuple[str, ...], Any] = {}

    def make(services: Services) -> TestApp:
        paths = tuple(endpoint.path for endpoint in all_endpoints(services))
        if paths not in applications:
            applications[paths] = make_app(services)
        applications[paths].registry.services = services
        return TestApp(applications[paths])

    return make


@pytest.fixture
def app(services: Services, make_test_app: Callable[[Services], TestApp]) -> TestApp:
    """The web application, called in this process; commits are real."""
    return make_test_app(services)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[ForkServer]:
    """What starts real services fast."""
    fork_server = ForkServer()
    yield fork_server
    fork_server.close()


@pytest.fixture(scope="session")
def make_service(fork_server: ForkServer) -> Callable[..., Service]:
    """Make a service: a fork of what has imported all. Tests of the process itself have it from the script."""
    return functools.partial(ForkedService, fork_server=fork_server)


@pytest.fixture
def start_service(tmp_path: Path, make_service: Callable[..., Service]) -> Iterator[Callable[..., Service]]:
    """Start real services under waitress, as processes; keyword arguments are environment variables."""
    running: list[Service] = []
    counter = itertools.count()

    def start(**environment: str) -> Service:
        folder = tmp_path / f"service-{next(counter)}"
        folder.mkdir()
        service = make_service(folder, environment=environment)
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


@pytest.fixture(autouse=True)
def level_of_the_log():
    """Give the next test the level of frepo's log that this one found: a command that runs in this process sets it."""
    logger = logging.getLogger("frepo_core")
    level = logger.level
    yield
    logger.setLevel(level)
