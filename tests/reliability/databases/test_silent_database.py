"""A database that does not answer, because it is frozen or its packets are lost: no request waits long."""

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from frepo_core.testing.sources import Source
from support.reliability.database_switch import Switch
from support.reliability.faulty_proxy import FaultyProxy
from support.reliability.invariants import eventually
from support.servers import postgresql
from support.wire import Wire, head

MAX_WAIT = 6
CODE = "health-5ecre7"
LARGE = 65 << 20
pytestmark = pytest.mark.own_server  # it knows how many threads are free


class Site:
    """A service, and its PostgreSQL behind a proxy that can drop what the database says."""

    def __init__(self, service, switch, proxy):
        self.service, self.switch, self._proxy = service, switch, proxy
        made = self.send("/repository/collection", b'{"filename": "a", "maxBackupsCount": 9}', "application/json")
        self.collection = made[1]["collection"]["id"]

    def send(self, path, body=None, media="application/octet-stream", seconds=60):
        """Return the status of a request and its JSON."""
        request = urllib.request.Request(self.service.url + path, body)
        request.add_header("X-Auth-Token", self.service.admin)
        request.add_header("Content-Type", media)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                content = json.load(error)
                assert error.headers["Retry-After"] or error.code != 503 or "messages" in content
                return error.code, content

    def push(self, content):
        return self.send(f"/repository/collection/{self.collection}/backup", content)[0]

    def contents(self):
        answer = self.send(f"/repository/collection/{self.collection}/backup")[1]
        return [version["details"]["version"] for version in answer["versions"].values()]

    def silence(self, how):
        if how == "vanish":
            self._proxy.arm("hold", "down", 1)
        else:
            self.switch.freeze()

    def heal(self, how):
        if how == "vanish":
            self._proxy.release()
        else:
            self.switch.thaw()


@pytest.fixture(scope="module")
def site(make_service, tmp_path_factory):
    if postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    # What it has acknowledged must be there after it was killed.
    with postgresql.postgresql(durable=True) as url:
        parsed = make_url(url)
        with FaultyProxy(f"127.0.0.1:{parsed.port}") as proxy:
            behind = parsed.set(port=int(proxy.url.rpartition(":")[2])).render_as_string(hide_password=False)
            environment = {"DATABASE_URL": behind, "DATABASE_MAX_WAIT": str(MAX_WAIT), "HEALTH_CHECK_CODE": CODE}
            environment |= {"DATABASE_AUTO_UPGRADE": "1", "DATABASE_MAX_WAIT_STORED": "60"}
            service = make_service(tmp_path_factory.mktemp("silent"), environment=environment)
            service.start()
            switch = Switch(url)
            yield Site(service, switch, proxy)
            service.stop()
            if switch.process:
                switch.off()


def send_all(threads, ended, name, call, arguments):
    """Call once for each argument, in threads. The name is added to `ended` at the end of each call."""
    calls = [threads.submit(call, argument) for argument in arguments]
    for one in calls:
        one.add_done_callback(lambda _: ended.append(name))
    return calls


OTHERS = ["/", f"/health?code={CODE}"]


@pytest.mark.parametrize("how", ["vanish", "freeze"])
def test_no_request_waits_for_long_for_a_database_that_does_not_answer(site, how):
    assert site.push(b"before") == 200
    site.silence(how)
    ended = []
    try:
        with ThreadPoolExecutor(34) as threads:
            waiting = send_all(threads, ended, "waiting", site.push, [b"lost %d" % number for number in range(32)])
            time.sleep(0.5)
            others = send_all(threads, ended, "other", site.send, OTHERS)
            statuses = [one.result(60)[0] for one in others]
            answers = [one.result(60) for one in waiting]
    finally:
        site.heal(how)

    assert (statuses, set(answers)) == ([200, 503], {503})
    assert "waiting" == ended[-1]
    assert eventually(lambda: site.push(b"after") == 200, 60)


def test_requests_that_wait_for_a_lock_leave_threads_to_others(site):
    """Four times as many as the service has threads."""
    with create_engine(site.switch.url, poolclass=NullPool).begin() as other, ThreadPoolExecutor(34) as threads:
        other.execute(text("SELECT * FROM collection FOR UPDATE"))
        ended = []
        waiting = send_all(threads, ended, "waiting", site.push, [b"waits %d" % number for number in range(32)])
        time.sleep(0.5)
        others = send_all(threads, ended, "other", site.send, OTHERS)
        answered = [one.result(60)[0] for one in others]
        other.rollback()
        statuses = {one.result(60) for one in waiting}

    assert (200, "waiting") == (answered[0], ended[-1])
    assert statuses <= {200, 503}


def test_a_large_upload_survives_a_failover(site):
    service = site.service
    path = f"/repository/collection/{site.collection}/backup"
    fields = f"X-Auth-Token: {service.admin}", f"Content-Length: {LARGE}", "Expect: 100-continue"
    with Wire(service) as wire:
        wire.send(head("POST", path, *fields))
        assert b"HTTP/1.1 100 Continue\r\n\r\n" == wire.socket.recv(1000)
        site.switch.off()
        wire.send(Source(LARGE).read())
        small = site.push(b"small")
        site.switch.on()
        large = wire.reply().status

    assert (503, 200) == (small, large)
