"""The verdict that follows from what checks, guards and people have said."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.backups.verdicts import CheckFact, Verdict, judge

NOW = datetime(2026, 11, 26, tzinfo=UTC)


def fact(outcome, *, name="integrity", **more):
    return CheckFact(name=name, outcome=outcome, message=f"{name} says {outcome}", at=NOW, **more)


CASES = [
    ([], "unchecked"),
    ([fact("not checked")], "unchecked"),
    ([fact("good")], "whole"),
    ([fact("good", covers="container")], "whole"),
    ([fact("good", covers="content")], "complete"),
    ([fact("good", covers="container"), fact("good", name="other", covers="content")], "complete"),
    ([fact("good", covers="content"), fact("good", name="restore")], "restored"),
    ([fact("good", covers="content"), fact("pending", name="other")], "pending"),
    ([fact("suspicious"), fact("pending", name="other")], "suspicious"),
    ([fact("suspicious"), fact("broken", name="other"), fact("good", name="restore")], "broken"),
    ([fact("broken", is_of_service=False)], "unchecked"),
    ([fact("good", name="restore", is_of_service=False)], "unchecked"),
]


@pytest.mark.parametrize(("facts", "verdict"), CASES)
def test_the_worst_finding_decides_and_otherwise_the_best_one(facts, verdict):
    assert verdict == judge(facts).verdict == judge(reversed(facts)).verdict


def test_a_guard_makes_a_version_suspicious_but_a_broken_one_stays_broken():
    assert "suspicious" == judge([fact("good")], objection="It shrank").verdict
    assert "broken" == judge([fact("broken")], objection="It shrank").verdict


def test_what_was_found_before_a_release_does_not_count_and_what_is_found_later_does():
    facts = [fact("broken"), fact("good", name="other", covers="content")]
    assert "complete" == judge(facts, released_at=NOW).verdict
    assert "broken" == judge(facts, released_at=NOW - timedelta(seconds=1)).verdict


def test_the_reason_is_that_of_the_finding_in_one_line_of_200_characters():
    judgement = judge([fact("good"), CheckFact(name="x", outcome="broken", message="The dump\nis cut. " + "x" * 300)])
    assert judgement.reason.startswith("The dump is cut. xxx")
    assert 200 == len(judgement.reason)


def test_exactly_the_first_four_verdicts_are_good():
    good = [verdict for verdict in Verdict if verdict.is_good]
    assert [Verdict.RESTORED, Verdict.COMPLETE, Verdict.WHOLE, Verdict.UNCHECKED] == good
