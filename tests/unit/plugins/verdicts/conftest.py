"""A check of a plug-in that says what the content says, and results that it finds later."""

import pytest

from frepo_core.plugins import CheckResult, Finding, UploadCheck
from support.own_plugins import acme_plugin, registry_with

V1 = "/api/v1/collections"


def look(content, context):
    """Say what the first word of the content says: good, complete, broken, odd, or pending."""
    with content.open() as file:
        word = file.read().decode().split()[0]
    if word in {"broken", "odd"}:
        raise Finding(f"it says {word}", verdict="broken" if word == "broken" else "suspicious")
    if word == "complete":
        return CheckResult(outcome="good", covers="content")
    return CheckResult(outcome=word, message=f"it says {word}")


@pytest.fixture
def plugins():
    return registry_with(acme_plugin("acme-look", upload_checks=[UploadCheck(name="look", run=look)]))


@pytest.fixture
def make(root):
    def make(limit=3, **more):
        return root.create(maxBackupsCount=limit, **more).json["collection"]["id"]

    return make


@pytest.fixture
def push(root):
    """Upload versions whose contents say these words; return the answer to the last one."""

    def push(collection, *words):
        answers = [root.push(collection, f"{word} {number}".encode()) for number, word in enumerate(words)]
        assert {200} == {answer.status_int for answer in answers}
        return answers[-1].json["version"]

    return push


@pytest.fixture
def versions(root):
    """Return the verdicts of a collection's versions by number, those in quarantine in brackets."""

    def versions(collection):
        found = root.get(f"{V1}/{collection}/versions?sort=number").json["items"]
        return {one["number"]: f"({one['verdict']})" if one["quarantined"] else one["verdict"] for one in found}

    return versions


@pytest.fixture
def named(root):
    """Return the number of the version that a name stands for, in both APIs; None for none."""

    def named(collection, name):
        answer = root.get(f"{V1}/{collection}/versions/{name}", expect_errors=True)
        other = root.get(f"/repository/collection/{collection}/version/{name}?redirect=false", expect_errors=True)
        assert answer.status_int == other.status_int
        return answer.json["number"] if answer.status_int == 200 else None

    return named


@pytest.fixture
def shown(root):
    return lambda collection: root.get(f"{V1}/{collection}").json


@pytest.fixture
def judge(services):
    """Let the job of the plug-in find something about pending versions, as it does through the contract."""
    service = next(iter(services.contexts.values())).service

    def judge(collection, number, outcome, message="found later", **more):
        (check,) = [
            one
            for one in service.pending_checks("look", limit=100)
            if (one.collection_id, one.version_number) == (collection, number)
        ]
        return service.record_check(check, outcome, message, job="look_again", **more)

    return judge
