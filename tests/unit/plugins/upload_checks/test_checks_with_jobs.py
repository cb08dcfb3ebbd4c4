"""A check that fails or hangs leaves its version pending if a job looks at it later, and not checked otherwise."""

import threading

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import CheckResult, Job, UploadCheck
from support.own_plugins import acme_plugin, registry_with

BOTH = ("versions", "files")


@pytest.fixture
def fault():
    """What the check does: `fails` or `hangs`."""
    fault = {"kind": "", "end": threading.Event()}
    yield fault
    fault["end"].set()


def make_check(fault, **more):
    def run(content, context):
        if fault["kind"] == "fails":
            raise MemoryError
        if fault["kind"] == "hangs":
            fault["end"].wait(60)
        return CheckResult(outcome="good")

    return UploadCheck(name="look", run=run, deadline=0.2, applies_to=BOTH, **more)


@pytest.fixture(params=["look_again", None])
def job(request):
    return request.param


@pytest.fixture
def plugins(fault, job):
    jobs = [Job(name="look_again", schedule="every 1h", run=print)]
    return registry_with(acme_plugin("acme-look", upload_checks=[make_check(fault, job=job)], jobs=jobs))


@pytest.mark.parametrize("kind", ["fails", "hangs"])
def test_a_version_waits_for_the_job_and_evicts_nothing(root, services, fault, job, kind):
    collection = root.create(maxBackupsCount=1).json["collection"]["id"]
    root.push(collection, b"the only good one")
    fault["kind"] = kind

    version = root.push(collection, b"perhaps half a dump").json["version"]

    (check,) = services.version_checks.of_collection(collection, 2)
    kept = set(root.versions(collection))
    if job is None:  # nobody would ever look at it: a bug of a plug-in must not stop the rotation of a fleet
        assert ("unchecked", "not checked", {"2"}) == (version["verdict"], check.outcome, kept)
        return
    assert ("pending", "pending", {"1", "2"}) == (version["verdict"], check.outcome, kept)
    service = next(iter(services.contexts.values())).service
    (pending,) = service.pending_checks("look", limit=9)
    service.record_check(pending, "good", "whole", job="look_again")
    assert {"2"} == set(root.versions(collection))


def test_a_file_is_not_checked_in_any_case(root, fault, caplog):
    fault["kind"] = "fails"

    assert 200 == root.upload(b"a file").status_int
    assert "failed, the content is accepted as not checked" in caplog.text


def refusal(ini, *checks):
    with pytest.raises(ConfigurationError) as refused:
        assemble(ini, {}, registry_with(acme_plugin("acme-look", upload_checks=checks))).build_all()
    return str(refused.value)


def test_a_job_that_no_plug_in_has_is_refused_at_the_start(ini, fault):
    text = refusal(ini, make_check(fault, job="nobody"))

    assert "the check 'look' (the plug-in 'acme' of the package acme-look 1.2.3) cannot be used" in text
    assert "no plug-in has its job 'nobody'" in text


@pytest.mark.parametrize("name", ["run", "restore"])
def test_a_name_of_the_services_own_results_is_refused_at_the_start(ini, name):
    text = refusal(ini, UploadCheck(name=name, run=print))

    assert f"the check {name!r} (the plug-in 'acme' of the package acme-look 1.2.3) cannot be used" in text
    assert "the service records its own results under the names restore and run" in text
