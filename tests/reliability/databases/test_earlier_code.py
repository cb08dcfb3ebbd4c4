"""Databases written by the code of earlier commits: the current service upgrades them and uses their data."""

import http.client
import json
import subprocess

import pytest
from sqlalchemy import text
from webob import Request
from webtest import TestApp

from frepo_core.db import make_engine, migrations
from support.client import Client
from support.reliability.earlier_commits import EarlierService, commit_of, unpack
from support.reliability.stored_data import WRONG_BYTES, check, store
from support.reliability.upgrades import revisions
from support.scale import IS_BIG
from support.servers.fork_server import ForkedService

# Each start takes seconds: only the full form starts the code of every revision, on every database. The short form of
# test_earlier_data.py has all revisions on SQLite.
pytestmark = pytest.mark.databases(*([] if IS_BIG else ["sqlite"]))

# The first commit that can serve: `make serve` made a database of revision 0002 with it.
FIRST = "76f545128fbc6e26f7aa004fa05913856d0d38b8"
EARLIER = [revision for revision in revisions() if "0002" <= revision < migrations.head_revision()]
STATE = ("APP_SECRETS_FILE", "DATABASE_URL", "FS_LOCAL_DIRECTORY")
HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive"}


@pytest.fixture
def today(tmp_path, fork_server, fresh_database_url):
    (tmp_path / "today").mkdir()
    service = ForkedService(tmp_path / "today", fork_server, {"DATABASE_URL": fresh_database_url})
    yield service
    service.stop()


@pytest.fixture
def earlier(tmp_path, today, revision):
    """A service of the code that brought the revision, with the state of today's service."""
    commit = FIRST if revision == "0002" else commit_of(revision)
    if commit is None or not unpack(commit, tmp_path / "code"):
        pytest.skip("the earlier code is not in this clone: its history is cut off")
    (tmp_path / "earlier").mkdir()
    state = {name: today.environment[name] for name in STATE}
    service = EarlierService(tmp_path / "earlier", tmp_path / "code", state)
    yield service
    service.stop()


def client(service, token):
    """Return a client whose requests go to the service's socket."""

    def forward(environ, start_response):
        request = Request(environ)
        connection = http.client.HTTPConnection(service.address, timeout=60)
        connection.request(request.method, request.path_qs, request.body, dict(request.headers))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP]
        start_response(f"{answer.status} {answer.reason}", headers)
        return [body]

    return Client(TestApp(forward, lint=False), token)


def current_revision(url):
    engine = make_engine(url)
    with engine.connect() as connection:
        found = connection.scalar(text(f"SELECT version_num FROM {migrations.VERSION_TABLE}"))
    engine.dispose()
    return found


@pytest.mark.costly
@pytest.mark.parametrize("revision", EARLIER if IS_BIG else EARLIER[:1])
def test_todays_service_works_with_what_earlier_code_stored(earlier, today, revision):
    def damage(digest):
        (path,) = today.storage.glob(f"*/{digest}-*")
        path.write_bytes(WRONG_BYTES)
        with pytest.raises(subprocess.CalledProcessError):
            earlier.frepo("storage:verify")

    earlier.start()
    stored = store(client(earlier, earlier.admin), damage)
    earlier.stop()
    assert revision == current_revision(today.environment["DATABASE_URL"])
    today.start()

    check(client(today, earlier.admin), stored)
    assert [] == json.loads(today.frepo("storage:verify", "-f", "json"))["damaged"]
