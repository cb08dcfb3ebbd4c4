"""Two hosts with services, nginx, PostgreSQL and Ceph: bad networks, frozen and killed hosts, a failover."""

import contextlib
import itertools
import json
import os
import signal
import threading
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_core import assemble
from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import make_client
from support.hosts import network
from support.hosts.network import Fault, Network
from support.paths import ROOT
from support.reliability.database_switch import Switch
from support.reliability.invariants import Ledger, assert_invariants, digest_of, eventually
from support.scale import only_in_long_form
from support.servers import ceph, nginx, postgresql
from support.servers.service import Service

FAULT_SECONDS = 25
CLIENTS = 4
# A client's own time limit. An upload whose answer does not come is repeated with its key.
CLIENT_SECONDS = 40
MAX_WAIT = 15
LOST = Fault(loss=1)
HOSTS = ("front", "one", "two", "database", "storage")
SERVICES = ("one", "two")

pytestmark = [
    only_in_long_form,
    pytest.mark.own_server,
    pytest.mark.skipif(bool(network.missing()), reason=network.missing()),
    pytest.mark.skipif(bool(postgresql.MISSING), reason=str(postgresql.MISSING)),
    pytest.mark.skipif(bool(nginx.MISSING), reason=str(nginx.MISSING)),
    pytest.mark.skipif(bool(ceph.missing_programs()), reason=ceph.NOT_INSTALLED),
]


class Site:
    """The running hosts. Requests are sent from the host of nginx. The ledger has all answers since the hosts run."""

    def __init__(self, net, switch, services, url, admin):
        self.net, self.switch, self.services = net, switch, services
        self._url, self._admin = url, admin
        self.ledger = Ledger(secrets={admin})

    def send(self, path, body=None, **headers):
        """Return the status, which is 0 without an answer, the body, and how long the answer took."""
        request = urllib.request.Request(self._url + path, body)
        request.add_header("X-Auth-Token", self._admin)
        request.add_header("Content-Type", "application/octet-stream")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        started = time.monotonic()
        with self.net.entered("front"):
            try:
                with urllib.request.urlopen(request, timeout=CLIENT_SECONDS) as answer:
                    status, content = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                with error:
                    status, content = error.code, error.read()
            except OSError:
                status, content = 0, b""
        return status, content, time.monotonic() - started

    def collection(self):
        body = json.dumps({"filename": "night.sql", "maxBackupsCount": 1000}).encode()
        status, content, _ = self.send("/repository/collection", body, Content_Type="application/json")
        assert 200 <= status < 300, content
        return json.loads(content)["collection"]["id"]

    def check(self):
        """Check all promises of docs/reliability.md, in the database and in the storage."""
        one = self.services["one"]
        log = "".join(service.log.read_text(errors="replace") for service in self.services.values())
        with self.net.entered("front"):
            services = assemble({"app.env": "dev"}, one.environment)
            try:
                assert_invariants(services, self.ledger, log=log)
            finally:
                services.database.engine.dispose()


class Client:
    """Pushes to a collection of its own, repeats what was not acknowledged, and looks whether `latest` goes back."""

    def __init__(self, site, number):
        self.site, self.number, self.collection = site, number, site.collection()
        self.path = f"/repository/collection/{self.collection}/backup"
        self.acknowledged = 0
        self.waits, self.problems = [], []

    def run(self, has_ended):
        for step in itertools.count():
            content, key = b"%d of client %d" % (step, self.number), str(uuid.uuid4())
            while not self._push(step, content, key):
                if has_ended.wait(0.5):
                    return
            if has_ended.wait(0.1):
                return

    def _push(self, step, content, key):
        status, answer, seconds = self.site.send(self.path, content, Idempotency_Key=key)
        self.waits.append((status, seconds))
        if status == 200:
            self.acknowledged += 1
            self.site.ledger.acknowledge(self.collection, json.loads(answer)["version"]["version"], content)
            self._look_at_latest(step)
        elif status not in {0, 503, 502, 504, 409}:
            self.problems.append(f"{status}: {answer!r}")
        return status == 200

    def _look_at_latest(self, step):
        status, content, _ = self.site.send(f"{self.path}/latest")
        if status == 200 and int(content.split()[0]) < step:
            self.problems.append(f"after {step} was acknowledged, latest is {content!r}")

    def check(self):
        """Check that each version was accepted once, and that those of the ledger are downloaded as acknowledged."""
        assert not self.problems
        assert self.acknowledged
        for (collection, number), digest in self.site.ledger.versions.items():
            if collection == self.collection:
                status, found, _ = self.site.send(f"{self.path}/v{number}")
                assert (status, digest_of(found)) == (200, digest), number
        listed = json.loads(self.site.send(self.path)[1])["versions"]
        assert self.acknowledged <= len(listed) <= self.acknowledged + 1  # the answer to the last one may be lost


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        net = stack.enter_context(Network(HOSTS))
        with net.entered("database"):
            url = stack.enter_context(postgresql.postgresql(durable=True, address=net.address("database")))
        with net.entered("storage"):
            cluster = stack.enter_context(ceph.ceph_cluster())
            gateway = stack.enter_context(cluster.gateway(net.address("storage")))
            s3 = {"bucket": "frepo", "endpoint": gateway.endpoint, "region": cluster.region, "addressing_style": "path"}
            s3 |= {"key": cluster.key, "secret": cluster.secret}
            make_client(S3Settings(**s3)).create_bucket(Bucket="frepo")
        admin = str(uuid.uuid4())
        environment = {"APP_SECRET": "app-5ecre7", "ENC_TOKEN_PHRASE": "phrase-5ecre7", "SECURITY_ADMIN_TOKEN": admin}
        environment |= {"DATABASE_URL": url, "FS_ADAPTER": "awss3v3"}
        environment |= {f"FS_AWSS3V3_{name.upper()}": value for name, value in s3.items()}
        services = {}
        for name in SERVICES:
            with net.entered(name):
                folder = tmp_path_factory.mktemp(name)
                services[name] = Service(folder, environment, ROOT / "production.ini", host=net.address(name))
                if name == SERVICES[0]:
                    services[name].frepo("install")
                services[name].start()
                stack.callback(services[name].stop)
        with net.entered("front"):
            front = stack.enter_context(nginx.nginx([service.address for service in services.values()]))
        with net.entered("database"):
            switch = Switch(url)
        yield Site(net, switch, services, f"http://{front.address}", admin)
        if switch.process:
            with net.entered("database"):
                switch.off()


def cut(sources, targets, fault=LOST):
    """Return a fault between hosts, in one direction."""

    @contextlib.contextmanager
    def happens(site):
        site.net.break_down(fault, sources, targets)
        yield
        site.net.heal()

    return happens


def both(ones, others, fault=LOST):
    @contextlib.contextmanager
    def happens(site):
        with cut(ones, others, fault)(site), cut(others, ones, fault)(site):
            yield

    return happens


@contextlib.contextmanager
def frozen_service(site):
    os.kill(site.services["one"].pid, signal.SIGSTOP)
    yield
    os.kill(site.services["one"].pid, signal.SIGCONT)


@contextlib.contextmanager
def killed_service(site):
    site.services["one"].stop(signal.SIGKILL)
    yield
    with site.net.entered("one"):
        site.services["one"].start()


@contextlib.contextmanager
def frozen_database(site):
    site.switch.freeze()
    yield
    site.switch.thaw()


@contextlib.contextmanager
def failover(site):
    with site.net.entered("database"):
        site.switch.off()
        yield
        site.switch.on()


FAULTS = {
    "the database is cut off": both(SERVICES, ["database"]),
    "what the services send to the database is lost": cut(SERVICES, ["database"]),
    "what the database answers is lost": cut(["database"], SERVICES),
    "one host lost the database": both(["one"], ["database"]),
    "one host lost nginx": both(["one"], ["front"]),
    "what nginx sends to one host is lost": cut(["front"], ["one"]),
    "what one host answers is lost": cut(["one"], ["front"]),
    "one host lost everything": both(["one"], ["front", "two", "database", "storage"]),
    "the storage is cut off": both(SERVICES, ["storage"]),
    "what the storage answers is lost": cut(["storage"], SERVICES),
    "the network is slow": both(SERVICES, ["database", "storage"], Fault(delay=0.15)),
    "the network loses a tenth": both(SERVICES, ["database", "storage", "front"], Fault(loss=0.1)),
    "one service is frozen": frozen_service,
    "one service is killed": killed_service,
    "the database is frozen": frozen_database,
    "the database fails over": failover,
}
# Faults at which a request waits for nothing but the database.
OF_DATABASE = [name for name in FAULTS if "the database" in name]


@pytest.mark.parametrize("name", FAULTS)
def test_no_acknowledged_version_is_lost_and_latest_never_goes_back(site, name):
    clients, has_ended = [Client(site, number) for number in range(CLIENTS)], threading.Event()
    with ThreadPoolExecutor(CLIENTS) as threads:
        running = [threads.submit(client.run, has_ended) for client in clients]
        time.sleep(2)
        with FAULTS[name](site):
            time.sleep(FAULT_SECONDS)
        assert eventually(lambda: site.send("/")[0] == 200)
        before = [client.acknowledged for client in clients]
        healed = eventually(lambda: all(c.acknowledged > n for c, n in zip(clients, before, strict=True)), 90)
        has_ended.set()
        for one in running:
            one.result(120)

    assert healed
    for client in clients:
        client.check()
    if name in OF_DATABASE:
        longest = max(seconds for client in clients for _, seconds in client.waits)
        assert longest < MAX_WAIT + 2


def test_all_promises_hold_after_all_faults(site):
    client, has_ended = Client(site, 0), threading.Event()
    has_ended.set()
    client.run(has_ended)

    site.check()
