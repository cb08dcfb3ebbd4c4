"""A whole service for tests of plug-ins: HTTP on loopback, SQLite, a storage in memory, the installed plug-ins."""

import functools
import json
import logging
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import urllib3

from frepo_core import assemble
from frepo_core.db import make_engine, migrations
from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FieldsError
from frepo_core.plugins import PluginContext, StorageSettings, StorageSpec
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.startup import make_ready
from frepo_core.services.events.delivery import Delivery
from frepo_core.services.events.numbering import find_last_event, find_position
from frepo_core.settings import load_disabled_plugins
from frepo_core.web import make_app
from frepo_core.web.views.field_names import in_form

from .console import CommandResult, run_command, write_ini
from .memory import MemoryStorage

SECONDS = 30.0
POLL_SECONDS = 0.01
_ROLES: Mapping[str, Role] = {role.value: role for role in Role}


class _Log(Protocol):
    """What the service needs of pytest's `caplog`."""

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class ServiceAnswer:
    """The answer of the service: status, body and headers. The names of headers are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        """Return the body, parsed as JSON."""
        return json.loads(self.body)


@functools.cache
def _empty_database() -> bytes:
    """Return an empty SQLite database with frepo's tables. Making them takes longer than most tests."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "frepo.db")
        engine = make_engine(f"sqlite:///{path}")
        migrations.upgrade(engine)
        engine.dispose()
        return path.read_bytes()


class RunningService:
    """A service that runs in threads of the test's process.

    `url` is its address, `admin` the id of an administrator's token. `plugins` in the constructor are plug-ins that are
    not installed, for tests of a module without its package.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, str], log: _Log, plugins: tuple[FoundPlugin, ...] = ()
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        ini = {
            "app.env": "test",
            "app.secrets_file": str(folder / "secrets.json"),
            "database.url": f"sqlite:///{folder / 'frepo.db'}",
            "database.auto_upgrade": "true",
            "database.reserve": "0",
            "temp_directory": str(folder / "temporary"),
            "fs.adapter": "memory",
            **settings,
        }
        if not (database := folder / "frepo.db").exists():
            database.write_bytes(_empty_database())
        self._log = log
        self._ini = folder / "frepo.ini"
        write_ini(self._ini, ini)
        self._services = assemble(ini, {}, _with_memory(ini, plugins))
        self._services.build_all()
        services = self._services
        make_ready(services.database, services.settings, services.plugins, services.backends)
        self.admin = self.make_token(Role.ADMINISTRATOR.value)
        application: Any = make_app(self._services)
        self._server = make_server("127.0.0.1", 0, application, server_class=_Server, handler_class=_Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._http = urllib3.PoolManager(timeout=SECONDS, retries=False)
        self._services.service_time.start()
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def log(self) -> str:
        """Everything that was logged."""
        return self._log.text

    def context(self, plugin: str) -> PluginContext:
        """Return the context of a plug-in by the name of its entry point."""
        return self._services.contexts[plugin]

    def make_token(self, *roles: str) -> str:
        """Create a token with these roles, such as `upload.all`, that does not expire; return its id."""
        new = NewToken(roles=[_ROLES[name] for name in roles], expires="never")
        return self._services.tokens.generate(new).id

    def request(
        self,
        method: str,
        path: str,
        body: bytes | dict[str, Any] | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceAnswer:
        """Send a request and return the answer.

        A dict is sent as JSON, bytes as they are. `token` is the administrator's by default; "" sends none.
        """
        sent = {"X-Auth-Token": self.admin if token is None else token, **(headers or {})}
        if isinstance(body, dict):
            sent |= {"Content-Type": "application/json"}
            body = json.dumps(body).encode()
        url = path if "://" in path else self.url + path
        answer = self._http.request(
            method, url, body=body, headers={k: v for k, v in sent.items() if v}, redirect=False
        )
        return ServiceAnswer(
            status=answer.status, body=answer.data, headers={k.lower(): v for k, v in answer.headers.items()}
        )

    def make_collection(
        self,
        *,
        strategy: str | None = None,
        strategy_options: Mapping[str, Any] | None = None,
        max_versions: int = 10,
        filename: str = "dump.sql",
    ) -> str:
        """Create a collection with the guards that collections of `/api/v1` have; return its id.

        Raises `FieldsError` for a strategy that is not installed, and for wrong options: `fields` names each field,
        such as `form.strategyOptions.keep`, with its messages.
        """
        change = CollectionChange(
            limits={COUNT: max_versions}, strategy=strategy, strategy_options=strategy_options, filename=filename
        )
        try:
            return self._services.collections.create(change, by=None, default_guards=SAFE_GUARDS).id
        except FieldsError as error:
            # Tests of plug-ins compare the names of the first API.
            named = FieldsError({in_form(name): texts for name, texts in error.fields.items()}, error.message)
            named.add_note(f"What is wrong: {named.fields}")
            raise named from None

    def push(self, collection: str, content: bytes) -> ServiceAnswer:
        """Upload a version. A refusal is an answer, not an exception."""
        return self.request("POST", f"/repository/collection/{collection}/backup", content)

    def versions(self, collection: str) -> list[int]:
        """Return the numbers of the versions of a collection, ascending."""
        return [version.number for version in self._services.versions.list(collection)]

    def checks(self, collection: str, number: int) -> dict[str, tuple[str, str]]:
        """Return what the upload checks said about a version: outcome and message by the check's name."""
        found = self._services.version_checks.outcomes(collection, number)
        return {one.name: (one.outcome, one.message) for one in found}

    def run(self, *arguments: str) -> CommandResult:
        """Run a command of `frepo`, as in `run("sftp:check", "-v")`, with this service's settings and data.

        It runs in the process of the test, without a terminal. Its package must be installed.
        """
        return run_command(self._services, self._ini, arguments)

    def wait_for_subscribers(self, seconds: float = SECONDS) -> None:
        """Wait until the worker has delivered all events that happened so far to all subscribers.

        Raises `RuntimeError` if a subscriber fails, and `TimeoutError` after `seconds`.
        """
        deadline = time.monotonic() + seconds
        last = find_last_event(self._services.database)
        while behind := self._find_behind(last):
            if failed := [one for one in behind if one.error]:
                raise RuntimeError(f"the subscriber {failed[0].name!r} failed: {failed[0].error}")
            if time.monotonic() > deadline:
                names = ", ".join(sorted(one.name for one in behind))
                raise TimeoutError(f"after {seconds:g} seconds these subscribers have not handled all events: {names}")
            time.sleep(POLL_SECONDS)

    def _find_behind(self, last: int) -> list[Delivery]:
        """Return the deliveries that are not done with an event, and those before it."""
        position = find_position(self._services.database, last)
        deliveries = self._services.worker.deliveries
        return [one for one in deliveries if position is None or one.position < position]

    def close(self) -> None:
        """Stop the service, and what plug-ins run in it."""
        self._server.shutdown()
        self._thread.join(SECONDS)
        self._server.server_close()
        self._http.clear()
        self._services.service_time.stop()
        self._services.database.engine.dispose()


def _with_memory(ini: Mapping[str, str], plugins: tuple[FoundPlugin, ...]) -> PluginRegistry:
    """Return the installed plug-ins, the given ones, and a storage in memory."""
    spec = StorageSpec(name="memory", settings=StorageSettings, build=lambda settings: MemoryStorage())
    memory = FoundPlugin(name="frepo_testing", distribution="frepo-core", version="", storages=[spec])
    return PluginRegistry([*PluginRegistry.from_entry_points(load_disabled_plugins(ini, {})).found, *plugins, memory])


class _Server(ThreadingMixIn, WSGIServer):
    """Serves each connection in a thread."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    """Logs requests instead of printing them to stderr."""

    def log_message(self, format: str, *arguments: Any) -> None:
        logging.getLogger(__name__).debug(format, *arguments)
