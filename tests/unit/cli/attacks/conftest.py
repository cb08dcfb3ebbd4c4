"""A service with a locked collection, another one, and a second copy of everything; an attacker may use all of it."""

import hashlib
import logging
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core import assemble
from frepo_core.db import types, utc_now
from frepo_core.domain.roles import Role
from frepo_core.plugins import JobContext
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.facade.plugin_service import PluginService
from support.client import Client
from support.logs.log_recorder import MARK
from support.reliability.clock import clock_of

V1 = "/api/v1"
SETTINGS = {
    "STORAGES": "offsite archive",
    "STORAGE_ARCHIVE_ADAPTER": "local",
    "STORAGE_OFFSITE_ADAPTER": "local",
    "MIRROR": "offsite",
    "MIRROR_RATE": "0",
    "APP_SECRET": "app-5ecre7",
    "ENC_TOKEN_PHRASE": "phrase-5ecre7",
    "DATABASE_RESERVE": "0",
    "TRASH_MIN_FREE": "0",
    "APP_ENV": "test",
    "IDS_MAPPING_FILE": "",
}


class Place:
    """The service and its folders. `locked` and `other` are the ids of the two collections."""

    def __init__(self, services, make_test_app, console):
        self.services, self.console = services, console
        self._make_test_app = make_test_app
        self.first, self.second = console.folder / "storage", console.folder / "offsite"
        self.now = datetime(2028, 2, 25, 2, tzinfo=UTC)
        self.contents = {number: f"night {number}\n".encode() * 100 for number in (1, 2, 3)}
        self.others = {number: f"other {number}\n".encode() * 100 for number in (1, 2, 3)}

    def client(self):
        """Return the client of an administrator: the attacker, whose token is new each time, as he may revoke it."""
        return Client(
            self._make_test_app(self.services),
            self.services.tokens.generate(NewToken(roles=[Role.ADMINISTRATOR], expires="never")).id,
        )

    def fill(self):
        """Upload three versions to two collections, of which the first is in the trash; lock one of the collections."""
        self.locked = self._make_collection(self.contents)
        self.make_other()
        assert 200 == self.client().upload(b"a plain file").status_int
        self.change(self.locked, {"locked": "P30D"})
        self.run_jobs()
        self.copies = self.copies_of(self.contents.values())
        self.other_copies = self.copies_of(self.others.values())
        assert (3, 3) == (len(self.copies), len(self.other_copies))

    def make_other(self):
        """Make a collection whose versions anybody may delete who has the roles."""
        self.other = self._make_collection(self.others)

    def _make_collection(self, contents):
        owner = self.client()
        made = owner.post(f"{V1}/collections", {"name": "db.sql", "limits": {"versions": 2}}).json["id"]
        for content in contents.values():
            assert 201 == owner.call("POST", f"{V1}/collections/{made}/versions", body=content).status_int
        return made

    def change(self, collection, change):
        headers = {"Content-Type": "application/merge-patch+json"}
        answer = self.client().call("PATCH", f"{V1}/collections/{collection}", json=change, headers=headers)
        assert 200 == answer.status_int, answer.text

    def copies_of(self, contents):
        digests = {hashlib.sha256(content).hexdigest() for content in contents}
        found = [path for path in self.second.rglob("*") if path.name.partition("-")[0] in digests]
        return {path: path.read_bytes() for path in found}

    def run_jobs(self):
        """Run each job once, as a worker does. What fails is the business of other tests."""
        for job in upkeep_jobs(self.services):
            context = JobContext(
                settings=None,
                service=PluginService(),
                log=logging.getLogger(__name__),
                now=utc_now(),
                check_lease=lambda: None,
                progress=lambda text: None,
            )
            try:
                job.run(context)
            except Exception as error:  # noqa: BLE001  # such as the brake of the job mirror
                logging.getLogger(__name__).info("%s: %s", job.name, error)

    def rob_first_storage(self):
        """Delete every second file of the first storage and overwrite the others, the journal and the marks, too."""
        for number, path in enumerate(sorted(path for path in self.first.rglob("*") if path.is_file())):
            path.write_bytes(b"x" * path.stat().st_size) if number % 2 else path.unlink()

    def pass_days(self, days):
        self.now += timedelta(days=days)

    def assert_intact(self, what):
        """Check that the locked versions are listed and byte-identical, the one in the trash too, and their copies."""
        self.assert_readable(what)
        self.assert_copies(self.copies, what)

    def assert_readable(self, what):
        """Check that the locked versions are listed and byte-identical."""
        owner, path = self.client(), f"{V1}/collections/{self.locked}"
        numbers = {item["number"] for item in owner.get(f"{path}/versions").json["items"]}
        trash = {item["number"] for item in owner.get(f"{path}/trash").json["items"]}
        assert {1, 2, 3} <= numbers | trash, what
        assert {2, 3} <= numbers, what
        for number in numbers & self.contents.keys():
            assert (
                self.contents[number]
                == owner.get(f"{path}/versions/v{number}/content", headers={"X-File-Password": MARK}).body
            ), what

    def assert_copies(self, copies, what):
        """Check that the second storage has these files as they were."""
        assert copies == {path: path.read_bytes() for path in copies if path.exists()}, what


@pytest.fixture
def place(console, make_test_app, monkeypatch, plugins):
    console.environment |= SETTINGS | {
        "STORAGE_OFFSITE_DIRECTORY": str(console.folder / "offsite"),
        "STORAGE_ARCHIVE_DIRECTORY": str(console.folder / "archive"),
        "TEMP_DIRECTORY": str(console.folder / "temporary"),
        "IDS_MAPPING_FILE": str(console.folder / "ids.yaml"),
    }
    services = assemble({}, console.environment, plugins)
    place = Place(services, make_test_app, console)
    monkeypatch.setattr(types, "datetime", clock_of(lambda: datetime.timestamp(place.now)))
    place.fill()
    yield place
    services.database.engine.dispose()
