"""A policy that crashes or hangs: uploads go on, deletions and downloads wait, unless the plug-in says otherwise."""

import sys
import threading

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import UploadPolicy
from frepo_core.services.access.policies import policies
from support.own_plugins import acme_plugin, registry_with

V1 = "/api/v1/collections"
ORIGIN = "the policy 'door' (the plug-in 'acme' of the package acme-door 1.2.3)"
FEW = 4


@pytest.fixture(autouse=True)
def deadline(monkeypatch):
    monkeypatch.setattr(policies, "DEADLINE", 0.3)


def crash(request):
    raise RuntimeError("no key")


def statuses(root, collection):
    """Return the statuses of an upload, a download and a deletion."""
    return [
        root.push(collection, b"two").status_int,
        root.get(f"{V1}/{collection}/versions/v1/content").status_int,
        root.delete(f"{V1}/{collection}/versions/v1").status_int,
    ]


def test_after_a_crash_an_upload_goes_on_and_the_others_are_answered_503(root, collection, doorkeeper, caplog):
    doorkeeper.decide = crash

    assert [200, 503, 503] == statuses(root, collection)
    answer = root.delete(f"{V1}/{collection}/versions/v1")
    assert 7016108 == answer.json["code"]
    assert answer.json["detail"].startswith(f"T{ORIGIN[1:]} failed, so the deletion is refused.")
    assert "no key" not in answer.text
    assert "Retry-After" in answer.headers
    assert f"{ORIGIN} failed: RuntimeError: no key. The upload is allowed" in caplog.text


@pytest.mark.parametrize("chosen", ["refuse"])
def test_a_policy_may_refuse_uploads_when_it_fails(root, services, doorkeeper):
    made = root.create(maxBackupsCount=9).json["collection"]["id"]
    doorkeeper.decide = crash

    assert 503 == root.push(made, b"one").status_int
    assert [] == [*root.versions(made)]


@pytest.mark.parametrize("chosen", ["allow"])
def test_a_policy_may_allow_all_when_it_fails(root, collection, doorkeeper):
    doorkeeper.decide = crash

    assert [200, 200, 204] == statuses(root, collection)


@pytest.mark.parametrize("value", [False, True, "no"])
def test_a_policy_that_returns_something_has_failed(root, collection, doorkeeper, caplog, value):
    doorkeeper.decide = lambda request: value

    assert [200, 503, 503] == statuses(root, collection)
    assert f"decide returned {value!r}; it returns None or raises PolicyRefusal" in caplog.text


def test_a_policy_that_ends_the_interpreter_has_failed(root, collection, doorkeeper):
    doorkeeper.decide = lambda request: sys.exit(3)

    assert [200, 503, 503] == statuses(root, collection)


def test_a_policy_that_hangs_is_named_and_after_four_calls_not_called_any_more(root, collection, doorkeeper, caplog):
    may_return = threading.Event()
    doorkeeper.decide = lambda request: may_return.wait(60) and None
    doorkeeper.asked.clear()
    try:
        answers = [root.delete(f"{V1}/{collection}/versions/v1") for _ in range(FEW + 2)]
        pushed = root.push(collection, b"two").status_int
    finally:
        may_return.set()

    assert ([503] * (FEW + 2), 200, FEW) == ([one.status_int for one in answers], pushed, len(doorkeeper.asked))
    assert f"T{ORIGIN[1:]} did not return within 0.3 seconds, so the deletion is refused." in answers[0].json["detail"]
    assert "was not run, because 4 earlier runs of it have not returned" in answers[-1].json["detail"]
    assert f"{ORIGIN} was not run, because 4 earlier runs of it have not returned. The upload is allowed" in caplog.text


@pytest.mark.parametrize("chosen", ["perhaps"])
def test_a_wrong_choice_stops_the_start(plugins, ini):
    with pytest.raises(ConfigurationError, match="on_failure is 'perhaps'; write allow or refuse") as caught:
        assemble(ini, {}, plugins).build_all()

    assert ORIGIN in str(caught.value)


def test_a_wrong_declaration_is_refused():
    for values, reason in [
        ({"decide": 3}, "decide is 3"),
        ({"decide": print, "actions": "upload"}, "actions is 'upload'"),
        ({"decide": print, "actions": ("peek",)}, "actions is"),
        ({"decide": print, "on_failure": "open"}, "on_failure is 'open'"),
    ]:
        with pytest.raises((TypeError, ValueError), match=reason.replace("(", r"\(")):
            UploadPolicy(name="door", **values)


def test_a_name_that_two_packages_claim_is_refused():
    one = acme_plugin("acme-one", upload_policies=[UploadPolicy(name="door", decide=print)])
    two = acme_plugin("acme-two", upload_policies=[UploadPolicy(name="door", decide=print)])

    with pytest.raises(ConfigurationError, match="acme-one and acme-two"):
        registry_with(one, two)
