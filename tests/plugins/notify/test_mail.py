"""Messages for people, sent by Apprise to a real SMTP server."""

import logging

import pytest

from frepo_notify.errors import NotDelivered


@pytest.fixture
def targets(mail):
    return f"ops {mail.url}&key=5ecret99 kinds=*"


def test_a_mail_says_what_happened_and_what_to_do(mail, happened, handle):
    handle("ops", happened("job.failed", data={"job": "verify", "error": "no space left"}))

    (found,) = mail.mails
    text = found.get_body(("plain",)).get_content()
    assert "[backup1] The job verify failed" == found["Subject"]
    assert "ops@example.org" in found["To"]
    assert "The job verify failed: no space left." in text
    assert "What to do: Repair the cause." in text


def test_a_hundred_events_are_one_mail_and_no_event_is_sent_twice(mail, happened, handle):
    events = [happened("version.added", collection_id="c0", version_number=n) for n in range(100)]

    for event in events:
        handle("ops", event)

    (found,) = mail.mails
    assert "[backup1] 100 events: 100 versions added" == found["Subject"]


def test_what_happens_after_a_group_is_in_the_next_one(mail, happened, handle):
    first = [happened("version.added", collection_id="c0") for _ in range(2)]
    handle("ops", first[0])
    later = happened("job.failed", data={"job": "sweep", "error": "x"})

    for event in (first[1], later):
        handle("ops", event)

    assert ["[backup1] 2 events: 2 versions added", "[backup1] The job sweep failed"] == [
        found["Subject"] for found in mail.mails
    ]


def test_a_mail_that_was_refused_is_sent_again_with_all_that_happened_since(mail, happened, handle):
    first = happened("job.failed", data={"job": "verify", "error": "x"})
    mail.refusal = "451 Try again later"
    with pytest.raises(NotDelivered):
        handle("ops", first)
    second = happened("job.recovered", data={"job": "verify"})
    mail.refusal = ""

    for event in (first, second):
        handle("ops", event)

    (found,) = mail.mails
    assert "[backup1] 2 events: 1 job failed, 1 job recovered" == found["Subject"]


def test_an_event_that_is_retried_later_is_sent(mail, happened, handle):
    events = [happened("job.failed", data={"job": "verify", "error": "x"}) for _ in range(2)]
    for event in events:
        handle("ops", event)

    handle("ops", events[0])

    assert 2 == len(mail.mails)


def test_a_failure_has_no_secrets_and_neither_has_the_log(mail, happened, handle, caplog):
    mail.refusal = "550 no relay for key=5ecret99"
    event = happened("job.failed")

    with caplog.at_level(logging.DEBUG), pytest.raises(NotDelivered) as caught:
        handle("ops", event)

    assert "Apprise could not send the message" in str(caught.value)
    logged = [record.getMessage() for record in caplog.records if record.name != "mail.log"]  # the server's own log
    assert [] == [text for text in [str(caught.value), *logged] if "5ecret99" in text]
