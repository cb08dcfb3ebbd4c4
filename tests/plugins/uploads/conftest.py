"""A service with uploads in parts, and clients of tus."""

import pytest
from sqlalchemy import select
from webtest import TestApp

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.plugins import JobContext
from frepo_core.web import make_app
from frepo_uploads import expiry
from support.client import Client
from support.tus.client import Tus


@pytest.fixture
def settings(request):
    """What `with_settings` changes."""
    return getattr(request, "param", {})


@pytest.fixture
def ini(ini, settings, tmp_path):
    return ini | {"uploads.directory": str(tmp_path / "uploads"), "uploads.host": "test"} | settings


@pytest.fixture
def app(services):
    """An application of its own: the endpoints of a plug-in have the context of one service."""
    return TestApp(make_app(services))


@pytest.fixture
def root(app, admin):
    return Client(app, admin)


@pytest.fixture
def uploader(make_token):
    return make_token(Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)


@pytest.fixture
def collection(root, services, uploader):
    """A collection that lists the uploader."""
    made = root.create(filename="db.sql", maxBackupsCount=50).json["collection"]["id"]
    services.token_lists.grant(made, services.tokens.fingerprint(uploader), by=None)
    return made


@pytest.fixture
def tus(app, uploader):
    return Tus(app, uploader)


@pytest.fixture
def admin_tus(app, admin):
    return Tus(app, admin)


@pytest.fixture
def contents(root, collection):
    """Return the contents of the collection's versions, the oldest first."""

    def contents():
        items = root.get(f"/api/v1/collections/{collection}/versions").json["items"]
        numbers = sorted(item["number"] for item in items)
        return [root.get(f"/api/v1/collections/{collection}/versions/v{number}/content").body for number in numbers]

    return contents


@pytest.fixture
def events(services):
    """Return the kinds and the data of the events of uploads, the oldest first."""

    def events():
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind.like("uploads.%")).order_by(Event.id))
            return [(row.kind, row.data) for row in found]

    return events


@pytest.fixture
def run_job(services):
    """Run the job as the worker does, at a time; return its summary."""

    def run_job(now=None):
        own = services.contexts["uploads"]
        context = JobContext(
            settings=own.settings,
            service=own.service,
            log=own.log,
            now=now or utc_now(),
            check_lease=lambda: None,
            progress=lambda text: None,
        )
        return expiry.run(context)

    return run_job
