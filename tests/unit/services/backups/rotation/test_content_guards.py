"""What upload checks say together about the format of a content."""

from datetime import UTC, datetime

from frepo_core.domain.backups.content_kinds import ContentKind
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.services.backups.rotation.content_guards import Arrival
from frepo_core.services.content.checks.upload_checks import CheckReport


def kind_of(reports):
    return Arrival.of(1, START, reports).kind


def report(check="formats", outcome="good", **more):
    return CheckReport(check=check, origin="acme", outcome=outcome, **more)


START = datetime(2026, 3, 1, 2, tzinfo=UTC)
DUMP = report(kinds=("gzip", "PostgreSQL dump"), database="shop", covers="content")
VIRUSES = report("viruses", kinds=None)
FAILED = report("formats", "not checked", has_answered=False)


def test_the_check_that_knows_most_about_the_format_names_it():
    named = ContentKind(kinds=("gzip", "PostgreSQL dump"), database="shop", verdict=Verdict.COMPLETE)

    assert named == kind_of([DUMP, VIRUSES]) == kind_of([report("outer", kinds=("gzip",)), DUMP]) == kind_of([DUMP])
    assert ContentKind() == kind_of([report(outcome="not checked", kinds=())])
    assert named == kind_of([report("looks", kinds=("data",)), DUMP])


def test_a_format_is_awaited_while_a_check_has_not_ended():
    for reports, kinds in [
        ([report(outcome="pending", kinds=("gzip",))], ("gzip",)),
        ([DUMP, report("viruses", "pending")], DUMP.kinds),
        ([report(outcome="pending", kinds=("data",))], ("data",)),
        ([report(outcome="pending")], None),
        ([report(outcome="broken", kinds=("gzip",)), report("viruses", "pending")], None),
    ]:
        arrival = Arrival.of(1, START, reports)
        assert (None, kinds) == (arrival.kind, arrival.awaited and arrival.awaited.kinds), reports


def test_nothing_is_known_while_a_check_does_not_look_has_no_answer_or_finds_something_wrong():
    for reports in [
        [],
        [VIRUSES],
        [FAILED],
        [FAILED, report("outer", kinds=())],
        [FAILED, report("looks", kinds=("data",))],
        [DUMP, report("viruses", "pending")],
        [report(outcome="broken", kinds=("gzip",))],
        [report(outcome="suspicious", kinds=("gzip", "html"))],
    ]:
        assert kind_of(reports) is None, reports
