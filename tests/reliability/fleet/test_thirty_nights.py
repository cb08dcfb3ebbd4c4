"""A hundred hosts over thirty nights: each failure is named on its first morning, no other host is, no dump is lost.

The hosts send over HTTP, with the tokens of `frepo fleet:create`. Each morning `frepo status` and what the web console
reads must name those hosts that fail.
"""

import contextlib
import json
import os
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from frepo_core import assemble
from frepo_core.db import types, utc_now
from frepo_core.db.models import Lease
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.web import make_app
from frepo_server.application import hooks_of
from support.console.in_process import InProcessConsole
from support.fleet.fleet import Http, read_hosts
from support.fleet.nightly_dumps import FAILURES
from support.paths import ROOT
from support.reliability.clock import clock_of
from support.scale import IS_BIG
from support.servers.in_process import running_server

HOSTS, NIGHTS, EACH = (100, 30, 2) if IS_BIG else (10, 8, 1)
# The first three nights are good everywhere. Failures that make a collection suspicious, and not failed, come first.
BEGINS = {name: 3 + number * (NIGHTS - 4) // len(FAILURES) for number, name in enumerate(FAILURES)}
FIRST = datetime(2028, 2, 1, tzinfo=UTC)  # so that the thirty nights have a leap day
DUMPS, JOBS, SOON_AFTER, MORNING = (timedelta(hours=hours) for hours in (2, 4, 3, 7))
NIGHTLY_JOBS = ("integrity_deep", "overdue", "samples", "verify", "sweep", "trash", "events", "tokens")
NOT_WELL = ("damaged", "overdue", "failed", "full", "suspicious", "late")


class Clock:
    """A clock that stands still until it is set."""

    now = FIRST

    def set(self, night, time):
        self.now = FIRST + timedelta(days=night) + time

    def read(self):
        return self.now.timestamp()


@pytest.fixture
def clock(monkeypatch):
    """The clock of this process, and with it of the service."""
    clock = Clock()
    monkeypatch.setattr(types, "datetime", clock_of(clock.read))
    return clock


@pytest.fixture
def services(migrated, make_quick_engine, ini, tmp_path, clock):
    """The services with all installed plug-ins, over a copy of an empty database."""
    (tmp_path / "frepo.db").write_bytes(migrated.read_bytes())
    services = assemble(ini, {}, PluginRegistry.from_entry_points(), make_quick_engine(ini["database.url"]))
    lease = {"name": "worker", "holder": "a", "epoch": 1, "renewals": 1, "expires_at": utc_now()}
    services.database.write(lambda session: session.execute(insert(Lease), [lease]))
    yield services
    services.database.engine.dispose()


@pytest.fixture
def console(services, make_quick_engine, ini, tmp_path):
    """Run a command on the database of the services; return its status and its output."""
    in_process = InProcessConsole(make_quick_engine)
    settings = {name.upper().replace(".", "_"): value for name, value in ini.items()}
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | settings | {"FREPO_INI": str(ROOT / "development.ini")}

    def console(*arguments):
        done = in_process.run(list(arguments), env=environment, cwd=tmp_path)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return console


@pytest.fixture
def http(services):
    application = make_app(services)
    with running_server(application, hooks_of(application)) as server, contextlib.closing(Http(server.address)) as http:
        yield http


@pytest.fixture
def hosts(console, tmp_path):
    names = [f"{name}-{number}" for name in FAILURES for number in range(EACH)]
    names += [f"steady-{number}" for number in range(HOSTS - len(names))]
    Path(tmp_path / "hosts.csv").write_text("\n".join(["name", *names]))
    options = ("--filename", "{name}.sql.gz", "--max-backups-count", "3", "--expected-every", "1d", "-f", "csv")
    status, answer = console("fleet:create", "--from", "hosts.csv", *options)
    assert status == 0
    return read_hosts(answer, BEGINS)


@pytest.fixture
def wait_until(services, clock):
    """Set the clock, and let the worker renew its lease."""

    def wait_until(night, time):
        clock.set(night, time)
        lease = update(Lease).where(Lease.name == "worker").values(expires_at=utc_now() + timedelta(minutes=1))
        services.database.write(lambda session: session.execute(lease))

    return wait_until


@pytest.mark.slow
def test_each_failure_of_a_fleet_is_named_on_its_first_morning(services, console, http, hosts, clock, wait_until):
    root = console("auth:generate-admin-token")[1].strip()
    for night in range(NIGHTS):
        for number, host in enumerate(hosts):
            clock.set(night, DUMPS + timedelta(seconds=number))
            host.back_up(http, night)
        wrong = {host.name: host for host in hosts if host.fails_on(night)}
        if is_only_odd(wrong.values(), night):
            wait_until(night, SOON_AFTER)
            assert console("status")[0] == 1, night
        wait_until(night, JOBS)
        for name in NIGHTLY_JOBS:
            services.jobs.run(name, cause="console")
        wait_until(night, MORNING)

        status, named = read_status(console)
        assert wrong.keys() == named.keys(), night
        assert (2 if wrong else 0) == status, night
        for name, text in named.items():
            assert wrong[name].words(night) in text, text
        assert_the_console_shows(http, root, named, len(hosts))

    assert {host.name for host in hosts if host.failure} == wrong.keys()
    for host in hosts:
        for selector in ("latest", "good"):
            path = f"/collections/{host.collection}/versions/{selector}/content"
            assert (200, host.newest_good) == http.call(root, "GET", path), (host.name, selector)


def is_only_odd(wrong, night):
    """Whether something is suspicious since this night, and nothing is worse."""
    return bool(wrong) and all(host.failure.is_odd and not host.fails_on(night - 1) for host in wrong)


def read_status(console):
    """Return the exit status of `frepo status`, and what it says of each host that it names; all else is well."""
    status, printed = console("status", "-f", "json")
    rows = json.loads(printed)
    named = [row for row in rows if row["What"].startswith("collection ")]
    others = [row for row in rows if row not in named and row["What"] != "collections"]
    assert {"ok"} == {row["State"] for row in others}, others
    return status, {row["Details"].partition(".sql.gz: ")[0]: row["Details"] for row in named}


def assert_the_console_shows(http, root, named, hosts):
    """Compare what the views of the web console read with what `frepo status` has said."""
    overview = http.read(root, "/overview")
    listed = http.read(root, "/collections", sort="state", limit=200)["items"]
    found = http.read(root, "/collections", state=NOT_WELL, limit=200)["items"]
    for seen in (overview["problems"], listed[: len(named)], found):
        assert named.keys() == {one["name"].removesuffix(".sql.gz") for one in seen}
    assert all(one["state_reason"] in named[one["name"].removesuffix(".sql.gz")] for one in found)
    assert hosts == len(listed)
    counted = Counter(state for one in listed for state in one["states"])
    assert counted == {state: overview["collections"][state] for state in counted}
    assert hosts == overview["collections"]["total"]
