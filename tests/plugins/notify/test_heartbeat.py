"""The heartbeat: requested while the service is healthy, and not when it is not."""

import shutil
from datetime import UTC, datetime

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import JobContext
from frepo_notify.errors import NotDelivered
from frepo_notify.heartbeat import send_heartbeat


@pytest.fixture
def ini(ini, hook):
    return ini | {"notify.heartbeat": f"{hook.origin}/ping5ecret"}


@pytest.fixture
def beat(services, context):
    def beat():
        now = datetime.now(UTC)
        return send_heartbeat(
            JobContext(**vars(context), now=now, check_lease=lambda: None, progress=lambda text: None)
        )

    return beat


def test_it_is_sent_while_the_service_is_healthy(hook, beat):
    assert {"sent": True} == beat()
    assert ["/ping5ecret"] == hook.seen


def test_it_is_not_sent_when_a_health_check_fails(hook, beat, tmp_path, services):
    services.backends.get("local").check()
    shutil.rmtree(tmp_path / "storage")
    (tmp_path / "storage").write_text("not a folder")

    found = beat()

    assert (False, ["storage"]) == (found["sent"], list(found["problems"]))
    assert [] == hook.seen


def test_a_ping_that_fails_fails_the_job_without_the_url(hook, beat):
    hook.status = 500

    with pytest.raises(NotDelivered, match="status 500") as caught:
        beat()

    assert "5ecret" not in str(caught.value)


def test_a_redirect_to_an_address_that_is_not_allowed_is_refused(hook, inner, beat):
    hook.status, hook.location = 302, f"{inner.origin}/admin"

    with pytest.raises(NotDelivered, match="not public. The operator can allow it with notify.allowed_networks"):
        beat()

    assert [] == inner.seen


def test_the_job_is_off_without_a_url(ini):
    assert "every 1m" == assemble(ini, {}).plugins.jobs["notify_heartbeat"].spec.schedule
    assert "off" == assemble(ini | {"notify.heartbeat": ""}, {}).plugins.jobs["notify_heartbeat"].spec.schedule


def test_another_scheme_is_refused(ini):
    with pytest.raises(ConfigurationError, match="must begin with https://"):
        assemble(ini | {"notify.heartbeat": "file:///etc/passwd"}, {})
