"""Webhooks: signed messages to a real receiver, and the addresses that they may be sent to."""

import logging

import pytest

from frepo_notify.errors import NotDelivered
from support.receivers.webhooks import SECRET


@pytest.fixture
def targets(hook, inner):
    return f"""
        hook {hook.origin}/path5ecret secret={SECRET} kinds=*
        inner {inner.origin}/path5ecret secret={SECRET} kinds=*
        db {hook.origin}/db secret={SECRET} kinds=version.* collections=db-*
    """


def test_each_event_is_a_signed_message_with_its_id(hook, happened, handle):
    events = [happened("version.added", collection_id="c0", version_number=n, data={"size": 5}) for n in (1, 2)]

    for event in events:
        handle("hook", event)

    assert [str(event.id) for event in events] == [message_id for message_id, _ in hook.received]
    message = hook.received[0][1]
    assert ("version.added", "backup1", "c0", 1, {"size": 5}) == (
        message["type"],
        message["data"]["service"],
        message["data"]["collection"],
        message["data"]["version"],
        message["data"]["details"],
    )
    assert message["timestamp"].startswith(f"{events[0].at:%Y-%m-%dT%H:%M:%S}")
    assert message["timestamp"].endswith("Z")
    assert "A version was added to the collection c0: number 1, 5 bytes." == message["data"]["text"]


def test_a_repetition_has_the_same_id(hook, happened, handle):
    event = happened("version.added")

    handle("hook", event)
    handle("hook", event)

    assert 1 == len({message_id for message_id, _ in hook.received})


@pytest.mark.parametrize("status", [301, 400, 410, 500])
def test_any_answer_but_2xx_is_a_failure(hook, happened, handle, status):
    hook.status = status

    with pytest.raises(NotDelivered, match=f"status {status}"):
        handle("hook", happened("version.added"))


def test_an_address_that_is_not_public_is_refused(inner, happened, handle):
    with pytest.raises(NotDelivered, match="not public. The operator can allow it with notify.allowed_networks"):
        handle("inner", happened("version.added"))

    assert [] == inner.seen


def test_a_redirect_to_such_an_address_is_not_followed(hook, inner, happened, handle):
    hook.status, hook.location = 307, f"{inner.origin}/admin"

    with pytest.raises(NotDelivered, match="redirect, which is not followed"):
        handle("hook", happened("version.added"))

    assert [] == inner.seen


def test_only_the_collections_of_the_target_are_sent(hook, happened, handle, services, make_collection):
    mine, other = make_collection("db-main.sql"), make_collection("web.tar")

    for collection in (mine, other):
        handle("db", happened("version.added", collection_id=collection))

    assert [mine] == [message["data"]["collection"] for _, message in hook.received]
    assert "db-main.sql" == hook.received[0][1]["data"]["collection_name"]


def test_neither_the_log_nor_the_error_has_the_url(hook, happened, handle, caplog):
    event = happened("version.added")
    hook.stop()

    with caplog.at_level(logging.DEBUG), pytest.raises(NotDelivered) as caught:
        handle("hook", event)

    assert "does not accept a connection" in str(caught.value)
    assert "5ecret" not in str(caught.value) + caplog.text
