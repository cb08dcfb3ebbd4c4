"""Messages of other plug-ins, and notifiers of other plug-ins: both work with the targets of notify.targets."""

import pytest
from sqlalchemy import func, select, update

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.errors import ConfigurationError, ReadOnlyError
from frepo_core.plugins import Message, Notifier, NotSent
from frepo_notify.errors import NotDelivered
from frepo_notify.text_sending import check_targets
from support.client import Client
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture

ORIGIN = "the notifier 'pager' (the plug-in 'acme' of the package acme-pager 1.2.3)"
REPORT = Message(title="Report of the week", body="12 versions\n3 collections", level="warning")


class Pager:
    """Keeps what is sent, or fails as the test sets."""

    def __init__(self):
        self.sent = []
        self.error = None

    def __call__(self, target, message, context):
        if self.error:
            raise self.error
        self.sent.append((target.name, target.url, message.title, message.body, message.level))


@pytest.fixture
def pager():
    return Pager()


@pytest.fixture
def plugins(pager):
    def check(target):
        if "5ecret" not in target.url:
            raise ValueError(f"{target.url} has no key")

    return registry_with(acme_plugin("acme-pager", notifiers=[Notifier(name="pager", send=pager, check=check)]))


@pytest.fixture
def targets(mail):
    return f"ops pager://5ecret99\nmail {mail.url}"


@pytest.fixture
def send(services, context):
    """Send a message of a plug-in; return its event as subscribers get it."""

    def send(message=REPORT, **more):
        assert context.service.notify(message, sender="report", **more)
        with services.database.reading() as session:
            ids = session.scalars(select(Event.id).where(Event.position.is_(None)).order_by(Event.id)).all()
            last = session.scalar(select(func.max(Event.position))) or 0
        for position, number in enumerate(ids, start=last + 1):
            numbered = update(Event).where(Event.id == number).values(position=position)
            services.database.write(lambda session, numbered=numbered: session.execute(numbered))
        return context.service.events(kinds=["message.sent"])[-1]

    return send


def test_a_target_with_the_scheme_of_a_notifier_gets_messages_through_it(pager, mail, happened, handle):
    handle("ops", happened("job.failed", data={"job": "verify", "error": "no space left"}))

    ((name, url, title, body, level),) = pager.sent
    assert ("ops", "pager://5ecret99", "[backup1] The job verify failed", "failure") == (name, url, title, level)
    assert "no space left" in body
    assert [] == mail.mails


def test_a_message_that_a_notifier_does_not_send_is_tried_again_and_its_reason_has_no_secret(pager, happened, handle):
    event = happened("job.failed", data={"job": "verify", "error": "x"})
    pager.error = NotSent("pager://5ecret99 does not answer")
    with pytest.raises(NotDelivered, match=r"^\*\*\* does not answer$"):
        handle("ops", event)
    pager.error = None

    handle("ops", event)

    assert ["[backup1] The job verify failed"] == [title for _, _, title, _, _ in pager.sent]


def test_a_notifier_that_crashes_is_named_in_the_log_without_what_it_says(pager, happened, handle, caplog):
    for error in (RuntimeError("pager://5ecret99"), SystemExit(3)):
        pager.error = error
        with pytest.raises(NotDelivered) as caught:
            handle("ops", happened("job.failed", data={"job": "verify", "error": "x"}))

        assert f"{ORIGIN} failed with {type(error).__name__} in __call__, line " in str(caught.value)
        assert str(caught.value) in caplog.text
        assert "5ecret99" not in str(caught.value) + caplog.text


@pytest.mark.parametrize("targets", ["ops pager://wrong77"])
def test_a_url_that_a_notifier_does_not_understand_stops_the_start(context):
    with pytest.raises(ConfigurationError) as caught:
        check_targets(context.settings.all_targets, context.service)

    assert f"the URL of the target 'ops' is wrong, says {ORIGIN}: *** has no key" in str(caught.value)


@pytest.mark.costly
def test_urls_of_notifiers_and_of_apprise_are_understood_together(context):
    check_targets(context.settings.all_targets, context.service)


@pytest.mark.costly
def test_a_message_of_a_plugin_is_sent_as_it_is_to_each_target(pager, mail, send, handle):
    event = send()
    for target in ("ops", "mail"):
        handle(target, event)

    assert [("ops", "pager://5ecret99", "[backup1] Report of the week", REPORT.body, "warning")] == pager.sent
    (found,) = mail.mails
    assert "[backup1] Report of the week" == found["Subject"]
    assert REPORT.body == found.get_body(("plain",)).get_content().strip().replace("\r\n", "\n")


def test_a_message_of_a_plugin_is_not_hidden_in_a_group_of_events(pager, happened, send, handle):
    first = happened("job.failed", data={"job": "verify", "error": "x"})
    own = send()
    last = send(Message(title="Another", body=""))

    for event in (first, own, last):
        handle("ops", event)

    titles = [title.removeprefix("[backup1] ") for _, _, title, _, _ in pager.sent]
    assert ["The job verify failed", "Report of the week", "Another"] == titles


@pytest.mark.parametrize("targets", ["ops pager://5ecret99 collections=db-*"])
def test_a_message_about_a_collection_passes_the_filters(pager, make_collection, send, handle):
    for name in ("db-one", "web"):
        handle("ops", send(collection_id=make_collection(name)))

    assert 1 == len(pager.sent)


@pytest.mark.parametrize("targets", ["ops pager://5ecret99 kinds=job.*"])
def test_without_a_target_for_messages_the_sender_is_told(context):
    assert not context.service.notify(REPORT, sender="report")


def test_a_message_that_is_too_long_is_refused(context):
    for wrong in (
        Message(title="", body="x"),
        Message(title="two\nlines", body="x"),
        Message(title="x" * 201, body="x"),
        Message(title="x", body="x" * 16_385),
        Message(title="x", body="x", level="loud"),
    ):
        with pytest.raises(ValueError, match="title is|body has|level is"):
            context.service.notify(wrong, sender="report")


class TestReadOnly:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"read_only": "true"}

    def test_no_message_is_recorded(self, context):
        with pytest.raises(ReadOnlyError):
            context.service.notify(REPORT, sender="report")


def test_who_may_not_see_all_collections_does_not_read_the_message(app, admin, make_token, send):
    send()
    clients = [Client(app, token) for token in (make_token(Role.VIEW_EVENTS), admin)]

    (hidden,), (shown,) = (one.get("/api/v1/events", {"kind": "message.sent"}).json["items"] for one in clients)

    assert ("Report of the week", "system:report") == (shown["data"]["title"], shown["actor"])
    assert "12 versions" not in str(hidden)
    assert "Report of the week" not in str(hidden)
