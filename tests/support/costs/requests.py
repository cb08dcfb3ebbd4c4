"""The requests whose cost is counted, each against a service in this process."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial, reduce
from pathlib import Path

from webtest import TestApp, TestResponse

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.domain.roles import Role
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.base.lease import LEADER, Lease, LeaseTerms
from frepo_core.services.composition.container import Services
from frepo_core.services.events.numbering import number_events
from frepo_core.services.events.subscriptions import create_subscriptions
from frepo_core.services.upkeep.engine.job_turns import find_turns
from frepo_core.web import make_app
from support.client import Client
from support.tus.client import Tus

from .counter import Cost, Counter
from .fleets import apply_hosts
from .relay import Relay

V1 = "/api/v1"
WARM_UPS, RUNS = 3, 3
_SIZE = 4096
# What is sent, prepared but for its last step; `number` makes each content another one.
Sender = Callable[[], TestResponse]
Request = Callable[[int], Sender]


class Costs:
    """One service over one database, and the requests to it."""

    def __init__(self, folder: Path, url: str, counter: Counter, relay: Relay | None = None) -> None:
        self._counter, self._relay = counter, relay
        self._contents = 0
        ini = {
            "app.env": "test",
            "app.secret": "app-5ecre7",
            "enc.token_phrase": "phrase-5ecre7",
            "database.url": url,
            "fs.adapter": "local",
            "fs.local.directory": str(folder / "storage"),
            "temp_directory": str(folder / "temporary"),
            "ids_mapping.file": str(folder / "ids_mapping.yaml"),
            "uploads.directory": str(folder / "uploads"),
            "uploads.host": "test",
            "trash.min_free": "0",
            "database.reserve": "0",
            "compact": "true",
            "health_check.code": "a-code",
        }
        mirror = {
            "storages": "offsite",
            "storage.offsite.adapter": "local",
            "storage.offsite.directory": str(folder / "offsite"),
            "mirror": "offsite",
        }
        plugins = PluginRegistry.from_entry_points([])
        self.services = self._open(ini, plugins)
        migrations.make_ready(self.services.database.engine, upgrades=True)
        self._mirrored = Client(TestApp(make_app(self._open(ini | mirror, plugins)), lint=False))
        self._app = TestApp(make_app(self.services), lint=False)
        self._token = self._make_token(Role.ADMINISTRATOR)
        self._root = Client(self._app, self._token)
        self._mirrored = Client(self._mirrored.app, self._token)
        self._tus = Tus(self._app, self._token)
        self._root.upload(b"the first upload marks the storage")
        for storage in (folder / "storage", folder / "offsite"):
            for number in range(256):  # a folder that an upload makes is synced, too
                (storage / f"{number:02x}").mkdir(parents=True, exist_ok=True)
        find_turns(self.services.database, self.services.scheduled_jobs, self.services.database.now())
        # A worker leads all the time, also if a busy machine takes minutes: `/health` looks for one.
        self._lease = Lease(self.services.database, LEADER, holder="costs", terms=LeaseTerms(length=3600))
        assert self._lease.try_acquire()

    def count(self) -> Iterator[tuple[str, Cost]]:
        """Yield each piece of work and its cost: the least of some runs, after some that fill the caches."""
        for name, (status, request) in self._requests().items():
            yield name, self._count(lambda request=request, status=status: _checked(request(self._next()), status))  # type: ignore[misc]
        yield from self._worker()
        for hosts in (10, 20):
            yield f"apply, {hosts} hosts", self._count(partial(self._fleet, hosts))

    def prepare(self, name: str, count: int) -> list[Callable[[], None]]:
        """Return requests of one kind that are ready to be sent, after some that fill the caches."""
        status, request = self._requests()[name]
        for _ in range(WARM_UPS):
            _checked(request(self._next()), status)()
        return [_checked(request(self._next()), status) for _ in range(count)]

    def _count(self, prepare: Callable[[], Callable[[], object]]) -> Cost:
        for _ in range(WARM_UPS):
            prepare()()
        costs = [self._counter.count(prepare(), self._relay) for _ in range(RUNS)]
        return reduce(Cost.least, costs)

    def _next(self) -> int:
        self._contents += 1
        return self._contents

    def _open(self, ini: Mapping[str, str], plugins: PluginRegistry) -> Services:
        services = assemble(ini, {}, plugins)
        self._counter.watch(services.database.engine)
        return services

    def _make_token(self, *roles: Role, **restrictions: object) -> str:
        new = NewToken(roles=list(roles), expires="never", **restrictions)  # type: ignore[arg-type]
        return self.services.tokens.generate(new).id

    def _create(self, **form: object) -> str:
        return str(
            self._root.create(**{"filename": "dump.sql", "maxBackupsCount": 1000} | form).json["collection"]["id"]
        )

    def _requests(self) -> dict[str, tuple[int, Request]]:
        root, collection, known = self._root, self._create(), b"known" * 800
        stored = root.upload(known).json["filename"]
        full = self._create(maxBackupsCount=3, strategy="delete_oldest_when_adding_new")
        for _ in range(3):
            root.push(full, self._content(self._next()))
        small = Client(self._app, self._make_token(Role.UPLOAD_ALL, max_file_size=10))
        stranger = Client(self._app, self._make_token(Role.UPLOAD_ALL))
        path = f"{V1}/collections/{collection}/versions"

        def get(path: str, status: int = 200, **headers: str) -> tuple[int, Request]:
            return status, lambda number: partial(root.get, path, headers=headers)

        def push(client: Client, collection: str, status: int = 200) -> tuple[int, Request]:
            return status, lambda number: partial(client.push, collection, self._content(number))

        def push_v1(key: str = "") -> tuple[int, Request]:
            kind = {"Content-Type": "application/octet-stream"}
            return 201, lambda number: partial(
                root.call,
                *("POST", path),
                body=self._content(number),
                headers=kind | ({"Idempotency-Key": f"{key}{number}"} if key else {}),
            )

        return {
            "GET /version": get("/version"),
            "upload of a new content": (200, lambda number: partial(root.upload, self._content(number))),
            "upload of a known content": (202, lambda number: partial(root.upload, known)),
            "version, first API": push(root, collection),
            "version, /api/v1": push_v1(),
            "version with an Idempotency-Key": push_v1("key"),
            "version to a full collection": push(root, full),
            "version with a second copy": push(self._mirrored, collection),
            "part of a session": (204, partial(self._part, collection)),
            "commit of a session": (200, partial(self._commit, collection)),
            "download": get(f"/repository/file/{stored}"),
            "download of the latest version": get(f"{path}/latest/content"),
            "download of a range": get(f"/repository/file/{stored}", 206, Range="bytes=100-199"),
            "list of files": get("/repository"),
            "list of collections, /api/v1": get(f"{V1}/collections"),
            "list of versions, /api/v1": get(path),
            "overview": get(f"{V1}/overview"),
            "health, /api/v1": get(f"{V1}/health"),
            "health": get("/health?code=a-code"),
            "refused by the token": push(stranger, collection, 403),
            "refused by a limit": (400, lambda number: partial(small.upload, self._content(number))),
        }

    def _content(self, number: int) -> bytes:
        return f"{number:08}".encode() * (_SIZE // 8)

    def _part(self, collection: str, number: int) -> Sender:
        path = self._tus.create(2 * _SIZE, collection=collection)
        return partial(self._tus.patch, path, 0, self._content(number))

    def _commit(self, collection: str, number: int) -> Sender:
        content = self._content(number)
        path = self._tus.create(len(content), collection=collection, headers={"Upload-Commit": "required"})
        self._tus.patch(path, 0, content)
        digest = hashlib.sha256(content).hexdigest()
        return partial(self._tus.commit, path, sha256=digest, size=len(content))

    def _fleet(self, hosts: int) -> Callable[[], object]:
        """Return a run of `apply` that makes a collection and a token for each of some new hosts."""
        return lambda: apply_hosts(self.services, [f"host-{self._next()}" for _ in range(hosts)])

    def _worker(self) -> Iterator[tuple[str, Cost]]:
        """Yield what the worker does after uploads, stepped here: nothing runs in another thread."""
        database, worker = self.services.database, self.services.worker
        lease = self._lease
        create_subscriptions(database, [one.name for one in worker.deliveries])
        worker.leadership.begin(lease.epoch)

        def deliver() -> None:
            while number_events(database, lease.epoch):
                pass
            for delivery in worker.deliveries:
                delivery.step(lease.epoch)

        def after(uploads: int) -> Callable[[], Callable[[], None]]:
            def prepare() -> Callable[[], None]:
                for _ in range(uploads):
                    self._root.upload(self._content(self._next()))
                return deliver

            return prepare

        for uploads in (0, 1, 20):
            yield f"worker, after {uploads} uploads", self._count(after(uploads))
        collection = self._create()
        run_parts = partial(self.services.jobs.run, "parts", cause="costs")
        for versions in (0, 20):

            def prepare(versions: int = versions) -> Callable[[], object]:
                for _ in range(versions):
                    self._root.push(collection, self._content(self._next()))
                deliver()
                return run_parts

            yield f"the job parts, after {versions} versions", self._count(prepare)


def _checked(send: Sender, status: int) -> Callable[[], None]:
    def work() -> None:
        answer = send()
        assert status == answer.status_int, answer
        answer.body  # noqa: B018  # reads it all

    return work
