"""Whatever breaks each night, under each strategy, limit and setting: after a month the newest good dump is there.

`good` names it, and so does `latest`, unless `checks.on_broken = mark` says otherwise. A collection is not well since
the first bad morning.
"""

import contextlib
import json
import os
from datetime import UTC, datetime, timedelta
from itertools import product
from types import SimpleNamespace

import pytest

from frepo_core.db import types
from frepo_core.plugins import CollectionStrategy, StrategySpec
from frepo_core.web import make_app
from frepo_server.application import hooks_of
from support.console.in_process import InProcessConsole
from support.fleet.fleet import Http
from support.fleet.nightly_dumps import PAGE, ROWS, cut_at_60_percent, dump, dump_of_postgresql, pack
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture
from support.paths import ROOT
from support.reliability.clock import clock_of
from support.scale import IS_BIG, first_of
from support.servers.in_process import running_server

FIRST = datetime(2028, 2, 1, 2, tzinfo=UTC)
GOOD, BAD = (15, 30) if IS_BIG else (3, 3)
LARGE = {"integrity.inline_limit": "100"}
MARK = {"checks.on_broken": "mark"}
EXIT_STATUSES = {"ok": 0, "suspicious": 1, "failed": 2, "overdue": 2}
CHECKS = "cut at 60 %", "cut at the end", "killed dumper", "empty gzip", "error page"


def shrinking(night):
    return pack(dump("shop", night, rows=ROWS * 0.96 ** (night - GOOD + 1)))


def headless(night):
    """Return what curl sends when it repeats the upload of a pipe, of which it has sent the beginning already."""
    return pack(dump("shop", night))[1000:]


VARIANTS = {
    "cut at 60 %": lambda night: cut_at_60_percent(pack(dump("shop", night))),
    "cut at the end": lambda night: pack(dump("shop", night))[: -1 - night % 8],
    "killed dumper": lambda night: pack(cut_at_60_percent(dump("shop", night))),
    "empty gzip": lambda night: pack(b""),
    "error page": lambda night: PAGE,
    "another program": lambda night: pack(dump_of_postgresql("shop", night)) if night == GOOD else headless(night),
    "without its head": headless,
    "shrinking": shrinking,
}


class Greedy(CollectionStrategy):
    """A third party's strategy, the worst one: each upload evicts everything that it may."""

    def make_room(self, collection, incoming):
        return list(collection.versions)


STRATEGIES = {
    "delete_oldest_when_adding_new": {},
    "keep": {"daily": 3, "last": 1},
    "greedy": {},
}


class Nights:
    """A clock that stands still until the next night."""

    now = FIRST

    def read(self):
        return self.now.timestamp()


@pytest.fixture
def nights(monkeypatch):
    nights = Nights()
    monkeypatch.setattr(types, "datetime", clock_of(nights.read))
    return nights


@pytest.fixture(scope="session")
def plugins():
    greedy = StrategySpec(name="greedy", build=Greedy)
    return registry_with(acme_plugin("acme-greedy", strategies=[greedy]))


SETTINGS = {"marked": MARK} | ({"large": LARGE, "small": {}, "large, marked": LARGE | MARK} if IS_BIG else {})


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS)
def settings(request):
    return request.param


@pytest.fixture
def ini(ini, settings):
    return ini | settings


@pytest.fixture
def http(nights, services):
    application = make_app(services)
    with running_server(application, hooks_of(application)) as server, contextlib.closing(Http(server.address)) as http:
        yield http


@pytest.fixture
def exit_status(services, make_quick_engine, ini, tmp_path, collections):
    """Return the exit status of `frepo backup:status` for a collection; it exits like `frepo status`."""
    in_process = InProcessConsole(make_quick_engine)
    settings = {name.upper().replace(".", "_"): value for name, value in ini.items()}
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | settings | {"FREPO_INI": str(ROOT / "development.ini")}

    def exit_status(key):
        return in_process.run(["backup:status", collections[key]], env=environment, cwd=tmp_path).returncode

    return exit_status


@pytest.fixture
def collections(http, admin):
    """A collection for each failure, strategy and limit, by these three."""
    found = {}
    for key in product(VARIANTS, STRATEGIES, first_of((1, 3))):
        _, strategy, limit = key
        fields = {"name": "shop.sql.gz", "strategy": strategy, "limits": {"versions": limit}, "expected_every": "P1D"}
        if STRATEGIES[strategy]:
            fields["strategy_options"] = STRATEGIES[strategy]
        status, answer = http.call(admin, "POST", "/collections", json.dumps(fields).encode())
        assert status == 201, answer
        found[key] = json.loads(answer)["id"]
    return found


@pytest.fixture
def read(http, admin, collections):
    """Return what the service says: a collection, its versions with the newest first, and the content of one."""

    def read(key, path="", **query):
        return http.read(admin, f"/collections/{collections[key]}{path}", **query)

    def content(key, name):
        return http.call(admin, "GET", f"/collections/{collections[key]}/versions/{name}/content")[1]

    return SimpleNamespace(
        collection=read, versions=lambda key: read(key, "/versions", sort="-number", limit=50)["items"], content=content
    )


@pytest.mark.costly
@pytest.mark.slow
@(pytest.mark.databases if IS_BIG else pytest.mark.databases("sqlite"))
def test_the_newest_good_dump_is_there_after_a_month(
    http, admin, services, nights, collections, settings, read, exit_status
):
    sent, newest_good = {}, {}
    for night in range(GOOD + BAD):
        nights.now = FIRST + timedelta(days=night)
        for key, collection in collections.items():
            sent[key] = pack(dump("shop", night)) if night < GOOD else VARIANTS[key[0]](night)
            status, answer = http.call(admin, "PUT", f"/collections/{collection}/versions", sent[key])
            assert status == 201, (key, answer)
        if LARGE.items() <= settings.items():
            services.jobs.run("integrity_deep", cause="console")
        nights.now += timedelta(hours=5)
        for key in collections:
            found, where = read.versions(key), (key, night)
            state = read.collection(key)["state"]
            if found[0]["verdict"] == "complete":
                newest_good[key] = found[0]["number"], sent[key]
                assert night < GOOD or (key[0] == "shrinking" and night < GOOD + 24), where
                assert state == "ok", where
            else:
                assert night >= GOOD, where
                assert state in {"overdue", "failed" if found[0]["verdict"] == "broken" else "suspicious"}, where
                assert state != "suspicious" or night - GOOD < 1 or key[0] == "shrinking", where
            assert newest_good[key][0] in [one["number"] for one in found], where
            assert len(found) <= key[2] + 3, (
                where
            )  # `quarantine.max` is 2, and the newest good one may be outside the limit
            if night in {GOOD, GOOD + BAD - 1}:
                assert EXIT_STATUSES[state] == exit_status(key), where
                is_marked = MARK.items() <= settings.items() and key[0] in CHECKS
                assert newest_good[key][1] == read.content(key, "good"), where
                assert is_marked or newest_good[key][1] == read.content(key, "latest"), where
