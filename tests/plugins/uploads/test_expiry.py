"""Uploads that wait too long end, with an event; what is left of ended ones is cleared."""

import json
import os
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime

import pytest

from frepo_core.db import utc_now
from frepo_uploads import expiry, receiving
from frepo_uploads.session import GoneError
from frepo_uploads.sessions import Sessions
from frepo_uploads.upkeep import Upkeep
from frepo_uploads.web.tus_headers import PartHead
from support.client import with_settings
from support.wire import eventually

HOURS = timedelta(hours=1)


@pytest.fixture
def path(tus, collection):
    return tus.create(100, b"abc", collection=collection)


def test_an_upload_ends_when_no_part_came_in_time(tus, path, run_job, events, tmp_path):
    early = run_job(utc_now() + 47 * HOURS)
    late = run_job(utc_now() + 49 * HOURS)

    assert (0, 1) == (early["expired"], late["expired"])
    assert [("uploads.expired", 3, 100)] == [(kind, data["received"], data["size"]) for kind, data in events()]
    assert 410 == tus.head(path).status_int
    assert [] == list((tmp_path / "uploads").glob("*.part"))


@with_settings(uploads__expire="2h")
def test_the_time_is_a_setting(tus, path, run_job):
    assert 1 == run_job(utc_now() + 3 * HOURS)["expired"]


def test_the_outcome_can_be_read_for_a_day(tus, collection, run_job):
    path = tus.create(3, b"abc", collection=collection)
    before = run_job(utc_now() + 23 * HOURS)
    shown = tus.show(path)["state"]
    run_job(utc_now() + 25 * HOURS)

    assert (0, "committed") == (before["forgotten"], shown)
    assert 404 == tus.head(path).status_int


def test_a_file_without_an_upload_is_deleted_when_it_is_old(path, run_job, tmp_path):
    folder = tmp_path / "uploads"
    for name in ("old", "new"):
        (folder / f"test-{name}.part").write_bytes(b"left by a crash")
    old = time.time() - expiry.FRESH - 1
    os.utime(folder / "test-old.part", (old, old))

    assert 1 == run_job()["files"]
    assert {"test-new.part", f"{path.rpartition('/')[2]}.part"} == {each.name for each in folder.glob("*.part")}


def test_a_lost_file_is_told_and_recorded(tus, path, events, tmp_path):
    (file,) = (tmp_path / "uploads").glob("*.part")
    file.unlink()

    assert (410, 410) == (tus.patch(path, 3, b"d").status_int, tus.head(path).status_int)
    assert ["uploads.lost"] == [kind for kind, data in events()]


def test_an_administrator_sees_and_ends_all_uploads(admin_tus, tus, path):
    shown = admin_tus.call("GET", "/api/v1/uploads").json["items"]
    (own,) = tus.call("GET", "/api/v1/uploads").json["items"]

    assert [(3, 100)] == [(one["offset"], one["length"]) for one in shown]
    assert (12, None) == (len(shown[0]["sender"]["fingerprint"]), own["sender"])
    assert 204 == admin_tus.delete(path).status_int
    assert 410 == tus.head(path).status_int


def test_a_process_that_serves_ends_what_has_expired_in_its_folder(services, tus, path, tmp_path):
    """The worker that leads may be on another host."""
    (record,) = (tmp_path / "uploads").glob("*.json")
    old = (utc_now() - 49 * HOURS).isoformat()
    record.write_text(json.dumps(json.loads(record.read_text()) | {"touched_at": old}))
    context, upkeep = services.contexts["uploads"], Upkeep()
    upkeep.start(context)

    assert 410 == eventually(410, lambda: tus.head(path).status_int)
    upkeep.stop(context)


@pytest.mark.parametrize("sort", ["created_at", "-created_at"])
def test_open_uploads_are_listed_in_pages(tus, collection, sort):
    made = [tus.create(9, collection=collection).rpartition("/")[2] for _ in range(3)]
    first = tus.call("GET", f"/api/v1/uploads?limit=2&sort={sort}&collection={collection}").json
    last = tus.call("GET", f"/api/v1/uploads?limit=2&sort={sort}&cursor={first['next']}").json
    listed = [one["id"] for one in first["items"] + last["items"]]

    assert (made if sort == "created_at" else made[::-1]) == listed
    assert (2, None) == (len(first["items"]), last["next"])
    assert [] == tus.call("GET", "/api/v1/uploads?collection=another").json["items"]
    assert 400 == tus.call("GET", f"/api/v1/uploads?sort={sort}&cursor=WyIiLDFd").status_int


class TestATokenThatExpired:
    """Its upload has `uploads.expire` from then on, however often a byte comes."""

    @pytest.fixture
    def expired(self, path, tmp_path):
        """Let the token of the upload have expired so many hours ago, and the last part have come just now."""
        (record,) = (tmp_path / "uploads").glob("*.json")

        def expired(hours):
            data = json.loads(record.read_text())
            data["creator"]["expires_at"] = (utc_now() - hours * HOURS).isoformat()
            record.write_text(json.dumps(data))

        return expired

    def test_a_part_after_that_is_refused(self, tus, path, expired, events, tmp_path):
        expired(47)
        early = tus.patch(path, 3, b"d")
        expired(49)
        late = tus.patch(path, 4, b"e")

        assert (204, 410) == (early.status_int, late.status_int)
        assert "its token expired more than 2 days" in tus.show(path)["error"]["message"]
        assert ["uploads.expired"] == [kind for kind, data in events()]
        assert [] == list((tmp_path / "uploads").glob("*.part"))

    def test_the_job_ends_it(self, path, expired, run_job):
        expired(49)

        assert 1 == run_job()["expired"]

    def test_a_client_is_told_when(self, tus, path, expired):
        expired(47)
        expires = parsedate_to_datetime(tus.head(path).headers["Upload-Expires"])

        assert timedelta(minutes=50) < expires - utc_now() < timedelta(minutes=61)

    def test_a_part_that_is_arriving_is_cut_off(self, path, expired, services, monkeypatch):
        expired(47)
        sessions = Sessions(services.contexts["uploads"])
        upload = sessions.find(path.rpartition("/")[2])
        head = PartHead(offset=3, length=None, checksum=None)
        part = sessions.open_part(upload, head, lambda: upload.creator)
        part.write(b"d")
        monkeypatch.setattr(receiving, "now", lambda: utc_now() + 2 * HOURS)

        with pytest.raises(GoneError):
            part.write(b"d")
        part.ended(False)


class TestARevokedToken:
    @pytest.fixture
    def revoke(self, root, services, tus):
        return lambda token=tus.token: root.delete(f"/api/v1/tokens/{services.tokens.fingerprint(token)}")

    @pytest.fixture
    def rotate(self, services, tus):
        """Replace the token at once; return the new one."""

        def rotate():
            done = services.token_changes.rotate(services.tokens.fingerprint(tus.token), timedelta())
            services.tokens.clear_expired()
            return done.id

        return rotate

    def test_the_job_ends_its_uploads(self, tus, path, revoke, run_job, events, tmp_path):
        before = run_job()["revoked"]
        revoke()

        assert (0, 1) == (before, run_job()["revoked"])
        assert [("uploads.aborted", 3, "its token was revoked")] == [
            (kind, data["received"], data["message"]) for kind, data in events()
        ]
        assert [] == list((tmp_path / "uploads").glob("*.part"))

    def test_its_next_request_ends_them(self, tus, path, revoke, events):
        revoke()
        answers = [tus.head(path), tus.patch(path, 3, b"d")]

        assert [401, 401] == [answer.status_int for answer in answers]
        assert ["uploads.aborted"] == [kind for kind, data in events()]

    def test_one_that_was_replaced_ends_nothing_and_the_one_that_replaced_it_does(
        self, tus, path, rotate, revoke, run_job
    ):
        successor = rotate()
        assert 0 == run_job()["revoked"]
        revoke(successor)
        assert 1 == run_job()["revoked"]
