"""An upload without a length is given room in steps, also while one long part of it arrives."""

import pytest

from frepo_core.plugins import EndpointError
from frepo_uploads import receiving
from frepo_uploads.sessions import Sessions
from frepo_uploads.web.tus_headers import PartHead
from support.client import with_settings

pytestmark = with_settings(uploads__max_total="400KB")
STEP = 20_000


@pytest.fixture
def part(tus, collection, services, monkeypatch):
    """A part of an upload without a length. One token may hold 100 KB."""
    monkeypatch.setattr(receiving, "STEP_BYTES", STEP)
    path = tus.create(None, collection=collection)
    sessions = Sessions(services.contexts["uploads"])
    upload = sessions.find(path.rpartition("/")[2])
    part = sessions.open_part(upload, PartHead(offset=0, length=None, checksum=None), lambda: upload.creator)
    yield part
    part.ended(False)


def test_what_others_have_taken_since_it_began_counts(part, tus, collection):
    part.write(bytes(STEP))
    assert 201 == tus.post(60_000, collection=collection).status_int
    part.write(bytes(STEP))

    with pytest.raises(EndpointError) as refused:
        part.write(bytes(1))
    assert (507, 2 * STEP) == (refused.value.status, part.file.offset)


def test_it_may_take_all_that_there_is(part):
    for _ in range(100):
        part.write(bytes(1000))
    with pytest.raises(EndpointError) as refused:
        part.write(bytes(1))

    assert 507 == refused.value.status


def test_what_has_arrived_is_kept(part, tus, collection):
    with pytest.raises(EndpointError):
        for _ in range(200):
            part.write(bytes(1000))
    part.ended(False)

    assert 100_000 == tus.offset(f"/api/v1/uploads/{part.upload.id}")
