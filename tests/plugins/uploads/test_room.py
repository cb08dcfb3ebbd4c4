"""How much room uploads may take, and which gives way."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.identity import Identity
from frepo_core.plugins import EndpointError
from frepo_uploads.disk.room import Room
from frepo_uploads.session import State, Upload

NOW = datetime(2026, 11, 26, 9, tzinfo=UTC)
ROOM = Room(total=400, max_open=3)


def make(name, owner="a", *, length=10, idle=timedelta(0), **more):
    identity = Identity(token=owner, fingerprint=owner, roles=frozenset())
    touched = NOW - idle
    return Upload(
        id=name,
        place="here",
        creator=identity,
        collection_id="c",
        length=length,
        created_at=touched,
        touched_at=touched,
        **more,
    )


def admit(upload, others=(), max_version=None):
    return [each.id for each in ROOM.admit(upload, others, max_version=max_version, now=NOW)]


def test_what_fits_is_admitted():
    assert [] == admit(make("new", length=100))


@pytest.mark.parametrize(("length", "max_version"), [(101, None), (21, 10)])
def test_a_token_has_a_share(length, max_version):
    with pytest.raises(EndpointError) as refused:
        admit(make("new", length=length), max_version=max_version)

    assert 507 == refused.value.status


def test_an_announced_length_counts_as_if_it_were_here():
    with pytest.raises(EndpointError):
        admit(make("new", length=60), [make("old", length=50, offset=1)])


def test_an_upload_without_a_length_holds_what_has_arrived():
    assert [] == admit(make("new", length=50), [make("old", length=None, offset=50)])


@pytest.mark.parametrize(("idle", "seconds"), [([0, 1, 1], "15"), ([1, 1, 1], "600")])
def test_a_token_whose_uploads_move_may_try_again_soon(idle, seconds):
    others = [make(str(number), idle=timedelta(minutes=minutes)) for number, minutes in enumerate(idle)]
    with pytest.raises(EndpointError) as refused:
        admit(make("new"), others)

    assert {"Retry-After": seconds} == refused.value.headers


def test_the_longest_idle_upload_of_the_largest_holder_gives_way():
    others = [
        make("b1", "b", length=100, idle=timedelta(hours=3)),
        make("b2", "b", length=100, idle=timedelta(hours=4)),
        make("c1", "c", length=150, idle=timedelta(hours=9)),
    ]

    assert ["b2"] == admit(make("new", length=100), others)


def test_what_is_active_or_being_stored_gives_way_to_nobody():
    others = [
        make("b1", "b", length=300, idle=timedelta(minutes=30)),
        make("b2", "b", length=50, idle=timedelta(hours=5), state=State.COMMITTING),
    ]

    with pytest.raises(EndpointError) as refused:
        admit(make("new", length=100), others)

    assert (507, "600") == (refused.value.status, refused.value.headers["Retry-After"])
