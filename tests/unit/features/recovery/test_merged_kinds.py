"""What `recover --merge` reads back besides versions: holds, and how collections are restore-tested."""

import pytest

from frepo_core.db.models import Collection, RestoreChoice
from frepo_core.domain.event_kinds import EventKind
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.merged_kinds import LEFT_OUT, READ_BACK
from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.events.facts import collection_event
from frepo_core.services.events.recording import record


def merge(services):
    with services.feature(RecoveryServices).merge("local", lambda text: None) as merging:
        return merging.run(merging.find(), by=None)


def test_each_kind_is_read_back_or_left_out_for_a_reason(services):
    kinds = {kind.name for kind in services.feature(RecoveryServices).kinds}

    assert kinds == READ_BACK.keys() | LEFT_OUT.keys()
    assert not READ_BACK.keys() & LEFT_OUT.keys()


def choose(services, collection, question):
    values = {"rows": Assertion(question=question).dump()}
    named = {"restore_choice": incarnation(services, collection)}

    def work(session):
        session.merge(RestoreChoice(incarnation=named["restore_choice"], engine="sqlite", assertions=values))
        record(session, collection_event(EventKind.COLLECTION_EDITED, collection, by=None, **named))

    services.database.write(work)


def incarnation(services, collection):
    with services.database.reading() as session:
        row = session.get(Collection, collection)
        return row.incarnation or row.id


@pytest.mark.parametrize("is_ended", [False, True])
def test_holds_and_choices_of_restore_tests_are_read_back(
    services, run, make_collection, push, sender, back_up, is_ended
):
    held, chosen, changed = (make_collection(9) for _ in range(3))
    run("catalogue")
    restore = back_up()
    services.holds.set(held, "case 4711", by=sender)
    choose(services, chosen, "SELECT 1")
    choose(services, changed, "SELECT 2")
    services.feature(RecoveryServices).journal.write_changes()
    restored = restore()
    choose(restored, changed, "SELECT 3")
    if is_ended:  # after the restore
        restored.holds.set(held, "another", by=sender)
        restored.holds.end(held, by=sender)

    report = merge(restored)
    again = merge(restored)

    assert (0 if is_ended else 1, 1) == (report.holds, report.choices)
    assert (0, 0) == (again.holds, again.choices)
    facts = restored.collections.get(held)
    assert (None if is_ended else "case 4711") == (facts.hold and facts.hold.reason)
    choices = restored.feature(RestoreTestServices).choices
    asked = [choices.of(one).assertions["rows"].question for one in (chosen, changed)]
    assert ["SELECT 1", "SELECT 3"] == asked
