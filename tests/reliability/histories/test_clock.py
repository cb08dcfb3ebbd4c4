"""Clock changes while the service runs, leap days and time zones: version numbers decide the order."""

import os
import time
from datetime import UTC, datetime

import pytest

from support.reliability.clock import ENVIRONMENT, set_clock
from support.reliability.faulty import ENVIRONMENT as FAULTS
from support.reliability.faulty import faulty_ini
from support.reliability.invariants import Ledger
from support.reliability.recording_client import assert_holds_after_sweep
from support.servers.fork_server import ForkedService
from support.wire import Client, Wire, head

HOUR, DAY = 3600, 86400
SILENCE = 3
LEAP_DAY = datetime(2028, 2, 29, 23, 59, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def start(tmp_path_factory, fork_server):
    """Start the service, with a clock that can be set."""
    folder = tmp_path_factory.mktemp("clock")
    ini = faulty_ini(folder / "service.ini", channel_timeout=SILENCE, cleanup_interval=1)
    environment = {ENVIRONMENT: str(folder / "clock"), FAULTS: str(folder / "no faults")}
    service = ForkedService(folder, fork_server, environment, ini)

    def start(**more):
        service.stop()
        service.environment |= more
        service.start()
        return service

    yield start
    service.stop()
    assert_holds_after_sweep(service, Ledger())


@pytest.fixture(scope="module")
def running(start):
    return start()


@pytest.fixture
def service(running, set_to):
    return running


@pytest.fixture
def set_to(running):
    """Set the clock this many seconds off the right time; it is reset after the test."""
    yield lambda seconds: set_clock(running.folder / "clock", seconds)
    set_clock(running.folder / "clock", 0)


@pytest.fixture
def client(service):
    return Client(service)


def download(client, collection, name):
    reply = client.request("GET", f"/repository/collection/{collection}/backup/{name}")
    return client.request("GET", reply.headers["Location"].removeprefix(client.service.url), token=False).body


def created(client, collection):
    return [version["details"]["creation_date"]["date"] for version in client.versions(collection).values()]


def test_a_link_that_was_made_while_the_clock_was_ahead_is_invalid(client, set_to):
    collection = client.collection(2)
    client.push(collection, b"one")
    set_to(30 * DAY)
    reply = client.request("GET", f"/repository/collection/{collection}/backup/latest")
    link = reply.headers["Location"].removeprefix(client.service.url)
    ahead = client.request("GET", link, token=False).status

    set_to(0)

    assert (ahead, client.request("GET", link, token=False).status) == (200, 403)


def test_a_clock_set_back_by_a_day_changes_no_order(client, set_to):
    collection = client.collection(2)
    numbers = []
    for content, offset in ((b"one", 0), (b"two", 0), (b"three", -DAY), (b"four", -DAY), (b"five", 0)):
        set_to(offset)
        numbers.append(client.push(collection, content).json["version"]["version"])
        if content == b"three":
            dates, newest = created(client, collection), download(client, collection, "latest")

    assert ([1, 2, 3, 4, 5], ["4", "5"]) == (numbers, list(client.versions(collection)))
    assert (sorted(dates, reverse=True), b"three") == (dates, newest)
    assert (b"five", b"four") == (download(client, collection, "latest"), download(client, collection, "first"))


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_change_aborts_no_upload(service, client, set_to, days):
    collection, content = client.collection(2), os.urandom(800_000)
    path = f"/repository/collection/{collection}/backup"
    with Wire(service) as wire:
        wire.send(head("POST", path, client.auth, f"Content-Length: {len(content)}"), content[:500_000])
        time.sleep(0.1)
        set_to(days * DAY)
        time.sleep(2.2)  # the service checks for idle clients each second
        reply = wire.send(content[500_000:]).reply()

    assert (200, content) == (reply.status, download(client, collection, "latest"))


@pytest.mark.own_server  # stock waitress measures idle time by the host's clock
def test_a_clock_set_back_does_not_extend_the_idle_timeout(service, set_to):
    set_to(-DAY)
    with Wire(service) as wire:
        wire.socket.settimeout(SILENCE + 10)

        assert b"" == wire.send(b"POST /repository/fi").rest()


def test_retention_protects_versions_dated_in_the_future(client, set_to):
    collection = client.collection(1, minRetention="7d")
    client.push(collection, b"one")
    set_to(-DAY)
    back = client.push(collection, b"two")
    set_to(8 * DAY)
    later = client.push(collection, b"three")

    assert (400, 4012, 200) == (back.status, back.json["error_code"], later.status)
    assert ["2"] == list(client.versions(collection))


def test_a_token_lives_as_long_as_the_clock_says(client, set_to):
    body = b'{"roles": ["upload.all"], "data": {}, "expires": "+1 hour"}'
    token = {"X-Auth-Token": client.request("POST", "/auth/token/generate", body).json["tokenId"]}
    statuses = []
    for offset in (0, 2 * HOUR, -DAY):
        set_to(offset)
        path = "/repository/file/upload?fileName=a"
        statuses.append(client.request("POST", path, os.urandom(9), token, token=False).status)

    assert [200, 403, 200] == statuses


def test_an_idempotency_key_is_kept_for_two_weeks_after_a_clock_set_back(client, set_to):
    collection, key = client.collection(5), {"Idempotency-Key": "night"}
    numbers = []
    for offset in (0, -DAY, 14 * DAY - HOUR, 14 * DAY + HOUR):
        set_to(offset)
        numbers.append(client.push(collection, b"dump", key).json["version"]["version"])

    assert [1, 1, 1, 2] == numbers


def test_a_leap_day_is_handled_like_other_days(client, set_to):
    def at(seconds):
        set_to(LEAP_DAY.timestamp() + seconds - time.time())

    at(0)
    collection = client.collection(2)
    client.push(collection, b"leap")
    body = b'{"roles": ["upload.all"], "data": {}, "expires": "+1 year"}'
    ends = client.request("POST", "/auth/token/generate", body).json["expires"]
    found = client.request("GET", "/repository/collection?createdFrom=2028-02-29&createdTo=2028-02-29").json["elements"]
    at(60)
    client.push(collection, b"march")
    dates = created(client, collection)

    assert collection in [element["id"] for element in found]
    assert ["2028-02-29", "2028-03-01"] == [date[:10] for date in dates]
    assert ends.startswith("2029-0")
    assert [b"leap", b"march"] == [download(client, collection, name) for name in ("v1", "v2")]


def test_a_changed_time_zone_has_no_effect(start):
    seen = []
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles", "UTC"):
        service = start(TZ=zone)
        caller = Client(service)
        if not seen:
            collection = caller.collection(3)
            body = b'{"roles": ["upload.all"], "data": {}, "expires": "+1 hour"}'
            token = {"X-Auth-Token": caller.request("POST", "/auth/token/generate", body).json["tokenId"]}
        path = "/repository/file/upload?fileName=a"
        seen.append(caller.request("POST", path, os.urandom(9), token, token=False).status)
        before = created(caller, collection)
        number = caller.push(collection, os.urandom(9)).json["version"]["version"]
        after = created(caller, collection)

        assert (before, number, sorted(after)) == (after[:-1], len(after), after)
        assert abs(datetime.fromisoformat(after[-1]).replace(tzinfo=UTC).timestamp() - time.time()) < 60

    assert [200, 200, 200] == seen
