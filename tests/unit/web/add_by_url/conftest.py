"""Fixtures for servers on loopback: 127.0.0.2 represents a public address. No test uses a real resolver."""

import socket

import pytest
from sqlalchemy import func, select

from frepo_core.db.models import File, StoredObject
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.services.content.held_bytes import PREFIX
from frepo_core.services.content.remote.fetcher import Fetcher
from frepo_core.settings import load_settings
from support.remote_answers import SOMEBODY
from support.servers.remote import Remote


@pytest.fixture
def seconds():
    """The time limit of a fetch in seconds; tests whose servers use all of it make it short, and those only."""
    return 300


@pytest.fixture
def ini(ini, seconds):
    return ini | {
        "add_by_url.allowed_networks": "127.0.0.2/32",
        "http.timeout": str(seconds * 0.4),
        "long_execution_time": str(seconds),
    }


@pytest.fixture
def names(monkeypatch):
    """The addresses that names resolve to: one list for each lookup of the name."""
    answers = {"localhost": [["127.0.0.1"]] * 9}
    numeric = socket.getaddrinfo

    def getaddrinfo(host, port, *more, **options):
        if host in answers:
            found = answers[host].pop(0)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]
        return numeric(host, port, *more, flags=socket.AI_NUMERICHOST, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return answers


@pytest.fixture
def remote():
    """Start servers; they are stopped at the end."""
    running = []

    def start(answers=None, **more):
        running.append(Remote(answers or {}, **more))
        return running[-1]

    yield start
    for each in running:
        each.stop()


@pytest.fixture
def token(make_token):
    return make_token(Role.UPLOAD_ALL)


@pytest.fixture
def add(app, names, token):
    """Send an add-by-url request."""

    def add(url, status=200, token=token, **more):
        return app.post_json(
            "/repository/file/add-by-url", {"fileUrl": url, **more}, headers={"X-Auth-Token": token}, status=status
        )

    return add


@pytest.fixture
def refusal(ini, names):
    """Fetch a URL without storing anything; return the number of the refusal."""
    fetching = Fetcher(load_settings(ini, {}))

    def fetch(url):
        with pytest.raises(FrepoError) as caught, fetching.open(url, by=SOMEBODY):
            pass
        return caught.value.number

    return fetch


@pytest.fixture
def kept(services, tmp_path):
    """Count what is stored: rows, blobs and files of the storage and of the temporary folder."""

    def count():
        with services.database.reading() as session:
            rows = [session.scalar(select(func.count()).select_from(table)) for table in (File, StoredObject)]
        on_disk = [path for name in ("storage", "temporary") for path in (tmp_path / name).rglob("*") if path.is_file()]
        on_disk = [path for path in on_disk if not path.name.startswith(PREFIX)]
        return sum(rows) + len(on_disk)

    return count
