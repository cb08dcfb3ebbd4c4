"""The targets of notifications in /api/v1: which there are, without their secrets, and a test message."""

import pytest
from webtest import TestApp

from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.web import make_app
from support.client import Client
from support.receivers.webhooks import SECRET

PATH = "/api/v1/notification-targets"


@pytest.fixture
def targets(mail, hook):
    return f"ops {mail.url} kinds=version.* labels=prod ; hook {hook.origin}/path5ecret secret={SECRET}"


def test_targets_are_listed_without_secrets_and_tested(services, mail, hook):
    app = TestApp(make_app(services))

    def caller(*roles):
        return Client(app, services.tokens.generate(NewToken(roles=list(roles), expires="never")).id)

    root, reader = caller(Role.ADMINISTRATOR), caller(Role.VIEW_SETTINGS)
    answer = reader.get(PATH)
    assert ["ops", "hook"] == [item["name"] for item in answer.json["items"]]
    assert (["version.*"], ["prod"]) == tuple(answer.json["items"][0][name] for name in ("events", "labels"))
    for secret in ("path5ecret", SECRET, mail.url):
        assert secret not in answer.text
    assert {"delivered": True, "error": None} == root.post(f"{PATH}/ops/test", None).json
    assert ["[backup1] Test"] == [found["Subject"] for found in mail.mails]
    hook.status = 503
    failed = root.post(f"{PATH}/hook/test", None).json
    assert (False, True) == (failed["delivered"], "503" in failed["error"])
    assert 404 == root.post(f"{PATH}/none/test", None).status_int
    assert 403 == reader.post(f"{PATH}/ops/test", None).status_int
