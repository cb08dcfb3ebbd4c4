"""What the service does with the health checks of plug-ins."""

import threading
from unittest.mock import Mock

import pytest
from webtest import TestApp

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import HealthCheck
from frepo_core.plugins.discovery import describe_core
from frepo_core.services.reports.health.core_checks import CoreChecks
from frepo_core.web import make_app

CODE = "a-code"


OWN = {"storage": True, "database": True, "worker": True, "jobs": True, "collection_problems": True}


ORIGIN = "the plug-in 'acme' of the package acme-paint 1.2.3"


@pytest.fixture
def ini(ini):
    return ini | {"health_check.code": CODE}


def health(services):
    return TestApp(make_app(services)).get("/health", params={"code": CODE}, expect_errors=True)


def fail(*_):
    raise RuntimeError("no paint\nleft")


def leave(*_):
    raise SystemExit(3)


class TestHealth:
    def test_a_check_that_works_is_true(self, assembled):
        answer = health(assembled({"health_checks": [HealthCheck(name="paint", run=lambda: None)]}))

        assert 200 == answer.status_int
        assert OWN | {"paint": True} == answer.json["status"]

    def test_without_a_plugin_the_answer_has_the_checks_of_the_service(self, assembled):
        answer = health(assembled())

        assert OWN == answer.json["status"]
        assert ["global_status=True", *(f"{name}=True" for name in OWN)] == answer.json["ident"]

    def test_the_checks_of_the_service_come_by_the_hook_that_plugins_use(self, assembled):
        services = assembled()
        core = describe_core(CoreChecks(services, services.figures))

        assert {"frepo_health_checks"} == core.hooks
        assert [check.name for check in core.health_checks] == list(services.health.run())

    @pytest.mark.parametrize(("run", "kind"), [(fail, "RuntimeError: no paint left"), (leave, "SystemExit: 3")])
    def test_a_check_that_fails_is_false_with_its_message(self, assembled, run, kind, caplog):
        answer = health(assembled({"health_checks": [HealthCheck(name="paint", run=run)]}))

        assert (503, False, False) == (answer.status_int, answer.json["status"]["paint"], answer.json["global_status"])
        assert [kind] == answer.json["messages"]["paint"]
        assert f"health check 'paint' of {ORIGIN} failed" in caplog.text

    def test_a_check_that_hangs_is_reported_and_started_once(self, assembled):
        release, calls = threading.Event(), []

        def hang():
            calls.append(1)
            release.wait(60)

        services = assembled({"health_checks": [HealthCheck(name="paint", run=hang, deadline=0.1)]})

        answers = [health(services), health(services)]
        release.set()

        assert [503, 503] == [answer.status_int for answer in answers]
        assert "The check hangs" in answers[1].json["messages"]["paint"][0]
        assert [1] == calls

    def test_a_check_gets_the_context_if_it_takes_it(self, assembled):
        seen = []
        services = assembled({"health_checks": [HealthCheck(name="paint", run=seen.append)]})

        health(services)

        assert [services.contexts["acme"]] == seen

    def test_a_check_with_the_name_of_one_of_ours_stops_the_start(self, assembled):
        with pytest.raises(ConfigurationError, match=f"{ORIGIN} names a health check 'storage', as frepo does"):
            assembled({"health_checks": [HealthCheck(name="storage", run=fail)]})

    @pytest.mark.parametrize("kind", [ConfigurationError, RuntimeError])
    def test_secrets_are_masked_in_the_answer_and_in_the_log(self, assembled, caplog, kind):
        def run():
            raise kind(f"no answer from https://user:hunter2@example.org with {secret}")

        services = assembled({"health_checks": [HealthCheck(name="paint", run=run)]})
        secret = services.settings.app_secret.get_secret_value()

        [message] = health(services).json["messages"]["paint"]

        assert "no answer from https://***@example.org with ***" in message
        for part in ("hunter2", secret):
            assert part not in caplog.text

    def test_secrets_of_the_storage_are_masked(self, assembled, ini):
        s3 = {f"fs.awss3v3.{name}": f"{name}-value" for name in ("bucket", "region", "key", "secret")}
        run = Mock(side_effect=RuntimeError("the signature of secret-value is wrong"))
        check = HealthCheck(name="paint", run=run)
        services = assembled({"health_checks": [check]}, ini=ini | s3 | {"fs.adapter": "awss3v3"})

        assert ("RuntimeError: the signature of *** is wrong",) == services.health.run()["paint"]

    def test_plugins_can_ask_for_the_health(self, assembled):
        services = assembled({"health_checks": [HealthCheck(name="paint", run=fail)]})

        found = services.contexts["acme"].service.health()

        assert (("RuntimeError: no paint left",), ()) == (found["paint"], found["database"])
