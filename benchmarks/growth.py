"""Measures times that must not grow with the stored data: those of tokens, versions, listings of files, previews."""

import contextlib
import json
import os
import time
from collections.abc import Iterator

from sqlalchemy import Engine

from frepo_core.db import make_engine
from support import bulk_data
from support.servers import mariadb, postgresql
from support.servers.service import Service

from .harness import house_data
from .harness.client import PersistentConnection
from .harness.measure import Results, Sizes, Work, alternate, compare, timed
from .harness.world import folder, frepo

ASKED = 100
SEARCHES = (
    ("first page", "/repository", "/repository", 1.5),
    ("search by tag", f"/repository?tags={bulk_data.RARE}", f"/repository?tags={bulk_data.RARE}", 1.5),
    ("last page of 20 : page 1,000", "/repository?page=50", "/repository?page=1000", 3.0),
    ("search by name", f"/repository?searchQuery={bulk_data.WORD}", f"/repository?searchQuery={bulk_data.WORD}", 3.0),
)

HOUSE = {
    "overview": "/api/v1/overview",
    "collections by state": "/api/v1/collections?sort=state",
    "collections with a good version": "/api/v1/collections?verdict=complete",
    "collections with a suspicious version": "/api/v1/collections?verdict=suspicious",
}


def run(results: Results, sizes: Sizes) -> None:
    """Compare times with few rows and with many."""
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        few, many = (stack.enter_context(frepo(where / name)) for name in ("few", "many"))
        _tokens(results, sizes, few, many)
        _files(results, sizes, "SQLite", few, many)
        _collections(results, few)
        _previews(results, few)
    _houses(results, sizes)
    for kind, server in (("PostgreSQL", postgresql), ("MariaDB", mariadb)) if sizes.full else ():
        if server.MISSING:
            results.skipped[f"listings on {kind}"] = server.MISSING
            continue
        start = server.postgresql if kind == "PostgreSQL" else server.mariadb
        with contextlib.ExitStack() as stack:
            where = stack.enter_context(folder())
            urls = [stack.enter_context(start()) for _ in range(2)]
            few, many = (stack.enter_context(frepo(where / str(n), DATABASE_URL=url)) for n, url in enumerate(urls))
            _files(results, sizes, kind, few, many)


def _tokens(results: Results, sizes: Sizes, few: Service, many: Service) -> None:
    with _engine(few) as engine:
        bulk_data.fill_tokens(engine, 100)
    with _engine(many) as engine:
        bulk_data.fill_tokens(engine, sizes.many)
    samples = alternate({"few": _checking(few), "many": _checking(many)}, runs=9)
    what = f"token check with {sizes.many:,} tokens : 100"
    results.add(compare("growth", what, samples["many"], samples["few"], reach=1.1))


def _collections(results: Results, service: Service) -> None:
    """Add versions to two full collections, so that each push deletes the oldest version."""
    works = {}
    for count in (10, 10_000):
        form = {"filename": f"{count}.bin", "maxBackupsCount": count}
        made = json.loads(_connect(service).ask("POST", "/repository/collection", json.dumps(form).encode()))
        identifier = made["collection"]["id"]
        with _engine(service) as engine:
            bulk_data.fill_versions(engine, identifier, count)
        works[str(count)] = _adding(service, identifier)
    samples = alternate(works, runs=9)
    what = "version added to a collection of 10,000 : 10"
    results.add(compare("growth", what, samples["10000"], samples["10"], reach=1.2))


def _previews(results: Results, service: Service) -> None:
    """Simulate nightly uploads under the rules of `keep`. The time must grow as the nights do."""
    form = {"filename": "preview.bin", "maxBackupsCount": 10}
    made = json.loads(_connect(service).ask("POST", "/repository/collection", json.dumps(form).encode()))
    path = f"/api/v1/collections/{made['collection']['id']}/retention/preview"
    samples = alternate({str(nights): _previewing(service, path, nights) for nights in (1000, 10_000)}, runs=7)
    what = "preview of 10,000 nights : 1,000"
    results.add(compare("growth", what, samples["10000"], samples["1000"], reach=15))


def _previewing(service: Service, path: str, nights: int) -> Work:
    connection = _connect(service)
    schedule = {"every": "P1D", "duration": f"P{nights}D", "size": 4096}
    body = json.dumps({"strategy": "keep", "strategy_options": {"yearly": 10}, "schedule": schedule}).encode()
    return timed(lambda: connection.ask("POST", path, body))


def _houses(results: Results, sizes: Sizes) -> None:
    """Ask what an operator asks each morning, with a million versions and with ten thousand of them."""
    counts = {"few": 100, "many": 10_000 if sizes.full else 1000}
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        services = {}
        for name, count in counts.items():
            offsite = {"STORAGE_OFFSITE_ADAPTER": "local", "STORAGE_OFFSITE_DIRECTORY": str(where / f"offsite-{name}")}
            paused = {"JOBS_MIRROR": "off", "JOBS_VERIFY": "off", "JOBS_SWEEP": "off"}
            mirror = {"STORAGES": house_data.MIRROR, "MIRROR": house_data.MIRROR}
            services[name] = stack.enter_context(frepo(where / name, **mirror, **offsite, **paused))
            form = json.dumps({"name": "night.sql"}).encode()
            made = json.loads(_connect(services[name]).ask("POST", "/api/v1/collections", form))
            path = services[name].environment["DATABASE_URL"].removeprefix("sqlite:///")
            house_data.fill(path, made["id"], count)
            _connect(services[name]).ask("POST", "/api/v1/jobs/samples/runs")
        for what, path in HOUSE.items():
            samples = alternate({name: _asking(service, path, 10) for name, service in services.items()}, runs=7)
            text = f"{what}, {counts['many'] * house_data.EACH:,} versions : {counts['few'] * house_data.EACH:,}"
            results.add(compare("growth", text, samples["many"], samples["few"], reach=1.5))


def _adding(service: Service, collection: str) -> Work:
    connection = _connect(service)

    def sample() -> float:
        start = time.perf_counter()
        for _ in range(25):
            connection.ask("POST", f"/repository/collection/{collection}/backup", os.urandom(4096))
        return (time.perf_counter() - start) / 25

    return sample


def _files(results: Results, sizes: Sizes, kind: str, few: Service, many: Service) -> None:
    for service, count in ((few, 1000), (many, sizes.many)):
        with _engine(service) as engine:
            bulk_data.fill_files(engine, count)
    for name, in_few, in_many, reach in SEARCHES:
        times = 1 if (kind, name) == ("MariaDB", "search by name") else 20  # MariaDB has no index for it: over a second
        samples = alternate({"few": _asking(few, in_few, times), "many": _asking(many, in_many, times)}, runs=7)
        what = f"{kind}: listing, {name}, {sizes.many:,} files : 1,000"
        results.add(compare("growth", what, samples["many"], samples["few"], reach=reach))


def _asking(service: Service, path: str, times: int = ASKED) -> Work:
    connection = _connect(service)

    def sample() -> float:
        start = time.perf_counter()
        for _ in range(times):
            connection.ask("GET", path)
        return (time.perf_counter() - start) / times

    return sample


def _checking(service: Service) -> Work:
    """Send requests whose token is read from the database: a commit before each request invalidates the token cache."""
    connection = _connect(service)

    def sample() -> float:
        seconds = 0.0
        with _engine(service) as engine:
            other = engine.raw_connection().cursor()
            for number in range(ASKED):
                other.execute(f"PRAGMA user_version={number}")
                start = time.perf_counter()
                connection.ask("GET", "/version")
                seconds += time.perf_counter() - start
        return seconds / ASKED

    return sample


def _connect(service: Service) -> PersistentConnection:
    return PersistentConnection(service.address, {"X-Auth-Token": service.admin})


@contextlib.contextmanager
def _engine(service: Service) -> Iterator[Engine]:
    engine = make_engine(service.environment["DATABASE_URL"])
    yield engine
    engine.dispose()
