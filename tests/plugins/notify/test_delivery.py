"""Targets that are down for an hour of a simulated clock: the worker's delivery loses nothing and keeps the order."""

from datetime import timedelta

import pytest

from frepo_core.db.models import ParkedEvent
from support.receivers.webhooks import SECRET

HOUR = timedelta(hours=1)


@pytest.fixture
def targets(mail, hook):
    return f"people {mail.url}\nops {mail.url} kinds=*\nhook {hook.origin}/path5ecret secret={SECRET} kinds=*"


def test_a_webhook_that_is_down_for_an_hour_gets_every_event_once_and_in_order(hook, happened, deliver, services):
    hook.status = 503
    events = [happened("version.added", version_number=number) for number in range(20)]
    deliver("hook", HOUR)
    assert len(hook.seen) < 12

    hook.status = 204
    deliver("hook", 2 * HOUR)

    assert [str(event.id) for event in events] == [message_id for message_id, _ in hook.received]
    with services.database.reading() as session:
        assert [] == session.query(ParkedEvent).all()


@pytest.mark.costly
def test_people_get_one_message_about_all_that_happened_while_the_target_was_down(mail, happened, deliver):
    mail.refusal = "451 Try again later"
    for number in range(50):
        happened("version.added", version_number=number)
    deliver("ops", HOUR)

    mail.refusal = ""
    deliver("ops", 2 * HOUR)

    assert ["[backup1] 50 events: 50 versions added"] == [found["Subject"] for found in mail.mails]


def test_events_for_people_wait_for_those_that_happen_together(mail, happened, deliver):
    happened("version.added")
    deliver("ops", timedelta(seconds=10))
    assert [] == mail.mails

    happened("version.added")
    deliver("ops", timedelta(seconds=60))

    assert ["[backup1] 2 events: 2 versions added"] == [found["Subject"] for found in mail.mails]


@pytest.mark.costly
def test_a_broken_upload_is_one_message(mail, happened, deliver):
    about = {"collection_id": "c0", "version_number": 4, "data": {"outcome": "broken", "message": "It ends early"}}
    happened("version.checked", **about)
    happened("version.quarantined", **about | {"data": {"message": "It ends early", "verdict": "broken", "size": 9}})

    deliver("people", HOUR)

    (found,) = mail.mails
    assert "[backup1] Broken backup of c0 in quarantine" == found["Subject"]
    assert 1 == found.get_body(("plain",)).get_content().count("It ends early")
