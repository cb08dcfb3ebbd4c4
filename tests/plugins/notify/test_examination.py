"""What `frepo doctor` says about notifications."""

import socket

import pytest

from frepo_notify.examination.servers import examine
from support.receivers.webhooks import SECRET


@pytest.fixture
def found(context):
    return lambda: [(one.level, one.message) for one in examine(context.settings, context.service)]


@pytest.fixture
def closed():
    """The port of a server that is down."""
    with socket.socket() as free:
        free.bind(("127.0.0.2", 0))
        yield free.getsockname()[1]


def test_without_a_target_nobody_is_told(found):
    assert [("warning", "No target is set, so nobody is told when a backup fails")] == found()


class TestReachable:
    @pytest.fixture
    def targets(self, mail, hook):
        return f"ops {mail.url}\nhook {hook.origin}/x secret={SECRET}\nchat ntfy://127.0.0.9/topic"

    def test_servers_that_answer_are_not_named_and_others_than_mail_and_webhooks_are_not_connected_to(self, found):
        assert [] == found()


class TestDown:
    @pytest.fixture
    def targets(self, closed):
        mail = f"mailto://127.0.0.2:{closed}?from=a5ecret@example.org&to=ops@example.org&mode=insecure"
        return f"ops {mail}\nhook http://127.0.0.2:{closed}/p5ecret secret={SECRET}"

    def test_a_server_that_cannot_be_connected_to_is_a_problem_without_the_url(self, found, closed):
        reason = f"cannot be connected to: port {closed}: Connection refused"

        assert [
            ("problem", f"The server of the target 'ops' {reason}"),
            ("problem", f"The server of the target 'hook' {reason}"),
        ] == found()


class TestNotAllowed:
    @pytest.fixture
    def targets(self, inner):
        return f"hook {inner.origin}/p5ecret secret={SECRET}"

    @pytest.fixture
    def ini(self, ini, inner):
        return ini | {"notify.heartbeat": f"{inner.origin}/p5ecret"}

    def test_a_server_to_which_nothing_may_be_sent_is_a_problem_that_names_the_setting(self, found, inner):
        [hook, heartbeat] = found()

        assert ("problem", "problem") == (hook[0], heartbeat[0])
        assert "The server of the target 'hook' cannot be connected to: The host of the URL" in hook[1]
        assert "The server of the heartbeat cannot be connected to: The host of the URL" in heartbeat[1]
        assert "notify.allowed_networks" in hook[1] and "notify.allowed_networks" in heartbeat[1]
        assert [] == inner.seen
