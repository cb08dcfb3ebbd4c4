"""What plug-ins examine for `frepo doctor`: a check that fails or hangs is a problem, and the others go on."""

import threading

import pytest

from frepo_core.features.doctor.plugins import check_plugins
from frepo_core.plugins import ConfigurationError, DoctorCheck, DoctorFinding
from support.own_plugins import acme_plugin, open_services, registry_with  # noqa: F401  # a fixture

ORIGIN = "(the plug-in 'acme' of the package acme-doctor 1.2.3)"
FOUND = DoctorFinding(level="warning", message="The pager is off", remedy="Switch it on")


@pytest.fixture
def checks():
    return []


@pytest.fixture
def plugins(checks):
    return registry_with(acme_plugin("acme-doctor", doctor_checks=checks))


@pytest.fixture
def examine(services):
    """Return what the checks of this test find: subject, level and message."""
    own = {"pager", "broken", "second"}
    return lambda: [
        (one.subject, one.level.value, one.message) for one in check_plugins(services) if one.subject in own
    ]


class TestFindings:
    @pytest.fixture
    def checks(self):
        def crash(context):
            raise RuntimeError("no key")

        return [
            DoctorCheck(name="broken", run=crash),
            DoctorCheck(name="pager", run=lambda context: [FOUND]),
            DoctorCheck(name="second", run=lambda context: []),
        ]

    def test_a_check_that_fails_is_a_problem_and_the_others_go_on(self, examine):
        assert [
            ("broken", "problem", f"The check 'broken' {ORIGIN} failed: RuntimeError: no key"),
            ("pager", "warning", "The pager is off"),
        ] == examine()


class TestOddAnswers:
    @pytest.fixture
    def checks(self):
        def refuse(context):
            raise ConfigurationError("The pager has no number")

        return [DoctorCheck(name="broken", run=lambda context: ["odd"]), DoctorCheck(name="pager", run=refuse)]

    def test_a_wrong_answer_names_the_package_and_an_error_of_frepo_says_itself_what_is_wrong(self, examine):
        wrong = f"The check 'broken' {ORIGIN} failed: TypeError: run() returned 'odd', which is not a DoctorFinding"

        assert [("broken", "problem", wrong), ("pager", "problem", "The pager has no number")] == examine()


class TestHanging:
    @pytest.fixture
    def may_return(self):
        event = threading.Event()
        yield event
        event.set()

    @pytest.fixture
    def checks(self, may_return):
        def hang(context):
            may_return.wait(60)
            return []

        return [DoctorCheck(name="pager", run=hang, deadline=0.1)]

    def test_a_check_that_hangs_is_reported(self, examine):
        assert [("pager", "problem", f"The check 'pager' {ORIGIN} did not return within 0.1 seconds")] == examine()


class TestStorages:
    @pytest.fixture
    def checks(self):
        def run(backend, context):
            return [DoctorFinding(level="ok", message=str(backend.root))]

        return [DoctorCheck(name="pager", run=run, storage="local"), DoctorCheck(name="second", run=run, storage="ftp")]

    def test_a_check_of_a_storage_gets_it_and_is_left_out_if_it_is_not_in_use(self, examine, ini):
        assert [("pager", "ok", ini["fs.local.directory"])] == examine()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DoctorFinding(level="bad", message="x", remedy="y"), "level is 'bad'"),
        (lambda: DoctorFinding(level="problem", message="x"), "remedy is empty"),
        (lambda: DoctorCheck(name="x", run=print, deadline=0), "deadline is 0"),
        (lambda: DoctorCheck(name="x", run=3), "run is 3"),
    ],
)
def test_a_wrong_declaration_is_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
