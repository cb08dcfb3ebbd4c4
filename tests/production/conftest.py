"""Fixtures for production as in deploy/ and production.ini: real nginx, services, PostgreSQL and S3 store."""

import contextlib
import itertools
import json
import re
import subprocess
import urllib.parse
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import text

from frepo_core.db import make_engine
from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import make_client
from support.servers import ceph as ceph_server
from support.servers import nginx as nginx_server
from support.servers.postgresql import MISSING as NO_POSTGRESQL
from support.servers.postgresql import postgresql
from support.servers.service import ROOT, Service

COUNTER = itertools.count()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One database for the tests that run in this process, because they do not test databases."""
    return f"sqlite:///{tmp_path}/frepo.db"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer as received by curl."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Site:
    """A running installation: `url` is nginx, `services` are the processes behind it."""

    url: str
    services: list[Service]
    environment: dict[str, str]
    admin: str

    def curl(self, path: str, *options: str, content: bytes | None = None) -> Reply:
        """Send a request to nginx; a path that is a URL is used unchanged."""
        url = path if "://" in path else self.url + path
        process = subprocess.run(["curl", "-sS", "-i", *options, url], input=content, capture_output=True, check=True)
        return parse(process.stdout)

    def api(self, path: str, body: object, token: str = "") -> dict:
        """Post JSON as the administrator, or with another token."""
        options = ["-H", "Content-Type: application/json", "-H", f"X-Auth-Token: {token or self.admin}"]
        reply = self.curl(path, *options, "-d", json.dumps(body))
        assert reply.status in {200, 201, 202}, reply.body
        return reply.json

    def collection(self, **fields: object) -> str:
        """Create a collection; return its path for versions."""
        made = self.api("/repository/collection", {"filename": "night.sql.gz", "maxBackupsCount": 3} | fields)
        return f"/repository/collection/{made['collection']['id']}/backup"

    def new_token(self) -> str:
        """Make another token of an administrator."""
        return self.api("/api/v1/tokens", {"roles": ["security.administrator"]})["secret"]

    def push(self, path: str, content: bytes, *options: str, token: str = "") -> Reply:
        """Push through a pipe, like the output of a dump: of unknown length, in chunks."""
        header = f"X-Auth-Token: {token or self.admin}"
        return self.curl(path, "-X", "POST", "-T", "-", "-H", header, *options, content=content)

    def upload(self, name: str, content: bytes) -> dict:
        """Upload a plain file."""
        return self.push(f"/repository/file/upload?fileName={urllib.parse.quote(name)}", content).json

    def versions(self, path: str) -> list[int]:
        """Return the numbers of a collection's versions."""
        listed = self.curl(path, "-H", f"X-Auth-Token: {self.admin}").json["versions"]
        return [int(number) for number in listed]

    def rows(self, query: str) -> list[tuple]:
        """Query the database."""
        engine = make_engine(self.environment["DATABASE_URL"])
        try:
            with engine.connect() as connection:
                return [tuple(row) for row in connection.execute(text(query))]
        finally:
            engine.dispose()


def parse(raw: bytes) -> Reply:
    """Parse the output of `curl -i`; of several heads (100 Continue, redirects) the last one counts."""
    head, _, body = raw.partition(b"\r\n\r\n")
    while re.match(rb"HTTP/\S+ (1\d\d)", head) or (
        body.startswith(b"HTTP/") and re.match(rb"HTTP/\S+ 30[12378]", head)
    ):
        head, _, body = body.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        assert name.lower() not in headers, f"two headers {name}"
        headers[name.lower()] = value
    return Reply(status=int(first.split()[1]), headers=headers, body=body)


@pytest.fixture(scope="session")
def production_database() -> Iterator[str]:
    if NO_POSTGRESQL:
        pytest.skip(NO_POSTGRESQL)
    with postgresql() as url:
        yield url


@pytest.fixture(scope="session")
def make_database(production_database: str) -> Callable[[], str]:
    """Make databases without tables, as they are before the first `frepo db:upgrade`."""

    def make() -> str:
        name = f"site_{next(COUNTER)}"
        engine = make_engine(production_database)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return f"{production_database.rpartition('/')[0]}/{name}"

    return make


@pytest.fixture(scope="session")
def bucket() -> Iterator[dict[str, str]]:
    """The settings of a bucket on a running Ceph."""
    if ceph_server.missing_programs():
        pytest.skip(ceph_server.NOT_INSTALLED)
    with ceph_server.ceph_cluster() as ceph, ceph.gateway() as gateway:
        settings = {
            "bucket": "frepo",
            "endpoint": gateway.endpoint,
            "region": ceph.region,
            "key": ceph.key,
            "secret": ceph.secret,
            "addressing_style": "path",
        }
        make_client(S3Settings(**settings)).create_bucket(Bucket="frepo")
        yield settings


@contextlib.contextmanager
def run_site(make_service: Callable[..., Service], folder: Path, database_url: str, **more: str) -> Iterator[Site]:
    """Run nginx and two processes of production.ini, as in docs/operations.md; keywords are environment variables."""
    if nginx_server.MISSING:
        pytest.skip(nginx_server.MISSING)
    admin = str(uuid.uuid4())
    environment = {
        "INTEGRITY_THREADS": "64",  # by default, versions that arrive together may wait for the job, and stay meanwhile
        "APP_SECRET": "app-5ecre7",
        "ENC_TOKEN_PHRASE": "phrase-5ecre7",
        "SECURITY_ADMIN_TOKEN": admin,
        "DATABASE_URL": database_url,
        "FS_LOCAL_DIRECTORY": str(folder / "storage"),
    }
    services = []
    for number in range(2):
        (folder / f"process-{number}").mkdir()
        own = folder / f"process-{number}"
        services.append(make_service(own, environment=environment | more, ini=ROOT / "production.ini"))
    services[0].frepo("install")
    with contextlib.ExitStack() as stack:
        for service in services:
            stack.callback(service.stop)
        with ThreadPoolExecutor() as threads:
            list(threads.map(Service.start, services))
        addresses = [service.address for service in services]
        front = stack.enter_context(nginx_server.nginx(addresses, storage=folder / "storage"))
        yield Site(url=f"http://{front.address}", services=services, environment=services[0].environment, admin=admin)


@pytest.fixture(scope="session")
def site(
    make_service: Callable[..., Service],
    make_database: Callable[[], str],
    bucket: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """nginx, two processes, PostgreSQL and S3; all tests share it."""
    s3 = {f"FS_AWSS3V3_{name.upper()}": value for name, value in bucket.items()}
    with run_site(make_service, tmp_path_factory.mktemp("s3"), make_database(), FS_ADAPTER="awss3v3", **s3) as site:
        yield site


@pytest.fixture(scope="session")
def local_site(
    make_service: Callable[..., Service],
    make_database: Callable[[], str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """nginx that sends local files directly, two processes, and PostgreSQL; all tests share it."""
    with run_site(make_service, tmp_path_factory.mktemp("local"), make_database(), FS_ACCEL_REDIRECT="/_blobs") as site:
        yield site
