"""The texts: every kind of event has one that says what happened, and problems say what to do."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.event_kinds import EventKind
from frepo_core.plugins import Event
from frepo_notify.targets import Target
from frepo_notify.texts import (
    TEXTS,
    describe,
    is_problem,
    make_message,
    title_of,
    topic_of,
    topics_of,
    without_repetitions,
)

START = datetime(2026, 11, 23, 2, 0, tzinfo=UTC)


def event(number, kind, **more):
    fields = {"position": number, "at": START + timedelta(seconds=number), "actor": "system:verify"}
    return Event(id=number, kind=kind, **fields | more)


def message(*events):
    return make_message(events, sender="backup1", name_of=lambda event: "db.sql" if event.collection_id else "")


def test_every_kind_that_is_recorded_has_a_text_of_its_own():
    for kind in EventKind:
        assert kind.value in TEXTS


def test_a_problem_says_what_to_do():
    for kind in TEXTS:
        text = TEXTS[kind]

        assert text.advice or text.level not in {"failure", "warning"}


def test_a_text_uses_only_what_an_event_of_its_kind_has():
    for kind in EventKind:
        data = {key: 1 if key in {"size", "count", "stored_size", "versions"} else f"a {key}" for key in kind.keys}
        subject = {"collection_id": "c0", "version_number": 4, "file_id": 5, "token": "t0"}
        full = event(1, kind.value, data=data, **subject)

        assert "unknown" not in describe(full, "db.sql") + title_of(full, "db.sql")


def test_a_kind_of_a_later_version_has_a_general_text():
    assert "An event of the kind star.born happened." == describe(event(1, "star.born"))


def test_a_single_event_says_what_to_do_who_did_it_and_when():
    refused = event(
        7,
        "version.refused",
        actor="ab12",
        address="192.0.2.7",
        collection_id="c0",
        data={"reason": "too_big", "message": "The version has 5 GB, the limit is 4 GB."},
    )

    found = message(refused)

    assert "[backup1] Backup refused for db.sql (c0)" == found.title
    assert "failure" == found.level
    assert found.body.splitlines() == [
        (
            "An upload to the collection db.sql (c0) was refused: The version has 5 GB, the limit is 4 GB. The version "
            "was not stored."
        ),
        (
            "What to do: Correct what the reason names, in the client or in the limits of the collection, and run the "
            "backup again."
        ),
        "When: 2026-11-23 02:00:07 UTC. By: ab12 from 192.0.2.7. Event 7.",
    ]


def test_a_hundred_events_are_one_message_with_a_count_and_a_list():
    added = [event(n, "version.added", collection_id="c0", version_number=n, data={"size": 2000}) for n in range(1, 98)]
    failed = [event(n, "job.failed", data={"job": "verify", "error": "no disk"}) for n in range(98, 101)]

    found = message(*added, *failed)

    assert "[backup1] 100 events: 3 jobs failed, 97 versions added" == found.title
    assert "failure" == found.level
    assert "- 02:00:01 A version was added to the collection db.sql (c0): number 1, 2.00 kB." in found.body
    assert "- and 85 more: `frepo events` lists all of them." in found.body
    assert 1 == found.body.count("The job runs again at its next time")
    assert len(found.body) < 4000


def test_a_broken_version_is_a_failure_and_says_so():
    broken = event(
        1, "version.checked", collection_id="c0", version_number=3, data={"check": "gzip", "outcome": "broken"}
    )

    found = message(broken, event(2, "version.checked", collection_id="c0", data={"outcome": "good"}))

    assert "[backup1] 2 events: 1 broken backup, 1 version checked" == found.title
    assert "The check gzip says that version 3 of the collection db.sql (c0) is broken. It was stored" in found.body


@pytest.mark.parametrize(
    ("nights", "level", "title", "text"),
    [
        (2, "warning", "Backup of db.sql (c0) in quarantine", "(9 bytes) was put into quarantine: The dump is empty."),
        (3, "failure", "Backups of db.sql (c0) in quarantine for 3 nights", "it may be the new normal"),
    ],
)
def test_quarantine_says_when_it_may_be_the_new_normal(nights, level, title, text):
    data = {"reason": "a", "message": "The dump is empty.", "nights": nights, "new_normal": nights >= 3, "size": 9}
    found = message(event(1, "version.quarantined", collection_id="c0", version_number=3, data=data))

    assert (level, f"[backup1] {title}") == (found.level, found.title)
    assert text in found.body
    assert "frepo backup:release" in found.body


def test_a_broken_arrival_is_never_the_new_normal_and_nothing_proposes_to_release_it():
    data = {"reason": "check integrity", "message": "It ends too early.", "nights": 3, "new_normal": True, "size": 9}
    third = event(1, "version.quarantined", collection_id="c0", version_number=3, data=data | {"verdict": "broken"})
    condemned = event(2, "version.condemned", collection_id="c0", version_number=4, data={"message": "It is cut."})

    found, late = message(third), message(condemned)

    assert "[backup1] Broken backup of db.sql (c0) in quarantine" == found.title
    assert "No other version was deleted for it. It is night 3 in a row." in found.body
    assert not any(word in text.body for text in (found, late) for word in ("normal", "release"))


def test_an_event_is_sent_to_the_targets_of_all_its_names_and_called_by_the_first():
    both = {"verdict": "broken", "new_normal": True}
    orders = {
        "version.broken_arrival": both,
        "version.overtaken": both | {"reason": "overtaken"},
        "version.new_normal": {"verdict": "suspicious", "new_normal": True},
    }
    for first, data in orders.items():
        one = event(1, "version.quarantined", collection_id="c0", version_number=3, data=data)
        names = topics_of(one)
        assert (first, "version.quarantined") == (names[0], names[-1])
        for name in names:
            assert Target(name="a", url="mailto://a", kinds=(name,)).takes(one), (first, name)
    assert ["version.overtaken", "version.broken_arrival", "version.new_normal", "version.quarantined"] == topics_of(
        event(1, "version.quarantined", collection_id="c0", data=orders["version.overtaken"])
    )


def test_a_broken_arrival_is_told_once_with_quarantine_and_reason():
    about = {"collection_id": "c0", "version_number": 3}
    why = {"message": "The gzip data ends early."}
    checked = event(1, "version.checked", **about, data={"check": "integrity", "outcome": "broken", **why})
    more = {"reason": "check integrity", "nights": 1, "new_normal": False, "size": 9, "verdict": "broken"}
    quarantined = event(2, "version.quarantined", **about, data={**more, **why})
    other = event(3, "version.checked", collection_id="c0", version_number=2, data={"outcome": "broken"})

    assert [quarantined] == without_repetitions([checked, quarantined])
    assert [quarantined, other] == without_repetitions([checked, quarantined, other])
    found = message(quarantined)
    assert ("failure", "[backup1] Broken backup of db.sql (c0) in quarantine") == (found.level, found.title)
    assert "is broken, and was put into quarantine: The gzip data ends early. No other version" in found.body


def test_of_what_is_found_about_one_version_the_most_is_told():
    def about(number, kind, **data):
        return event(number, kind, collection_id="c0", version_number=3, data=data)

    added, marked = about(1, "version.added"), about(2, "version.suspicious")
    checked = about(3, "version.checked", outcome="broken", check="restore")
    condemned = about(4, "version.condemned", check="restore", message="psql says no.", size=9)

    assert [added, checked] == without_repetitions([added, marked, checked])
    assert [added, condemned] == without_repetitions([added, checked, condemned])
    assert [added, marked] == without_repetitions([added, marked])
    assert "is found broken now by the check restore: psql says no. It stays" in message(condemned).body


def test_a_version_that_was_overtaken_is_no_problem():
    data = {"reason": "overtaken", "message": "Newer ones arrived.", "nights": 0, "new_normal": False, "size": 9}
    late = event(1, "version.quarantined", collection_id="c0", version_number=3, data=data)
    found = message(late)

    assert ("info", "[backup1] Late upload to db.sql (c0) put aside") == (found.level, found.title)
    assert "which had given it up" in found.body
    assert ("version.overtaken", False) == (topic_of(late), is_problem(late))


def test_a_line_end_of_a_client_does_not_start_a_new_line():
    found = describe(event(1, "file.added", data={"name": "a\nFrom: b", "size": 1}))

    assert "The file a From: b (1 byte) was uploaded." == found


def test_an_edit_names_what_changed():
    edited = event(
        1, "collection.edited", collection_id="c0", data={"before": {"a": 1, "b": 2}, "after": {"a": 1, "b": 3}}
    )

    assert "The collection c0 was edited: b from 2 to 3." == describe(edited)


def test_an_edited_value_with_two_names_is_named_once():
    before = {"versions": 2, "maxBackupsCount": 2, "strategy_options": None, "strategyOptions": None}
    after = {"versions": 3, "maxBackupsCount": 3, "strategy_options": "daily", "strategyOptions": "daily"}
    edited = event(1, "collection.edited", collection_id="c0", data={"before": before, "after": after})

    assert "The collection c0 was edited: versions from 2 to 3, strategy_options from nothing to daily." == describe(
        edited
    )


def test_damaged_bytes_name_the_versions_that_need_them():
    damaged = event(
        1,
        "blob.damaged",
        data={
            "storage": "local",
            "key": "ab/cd",
            "size": 9,
            "problem": "wrong digest",
            "used_by": ["v1 of c0"],
            "used_by_count": 7,
        },
    )

    assert "Affected: v1 of c0, and 6 more." in describe(damaged)
    assert is_problem(damaged)


def test_an_overdue_backup_says_since_when_and_how_often_it_is_expected():
    data = {"expected_every": "P1D", "due_at": "2026-11-22T02:00:00+00:00", "last_arrival": None}
    data["cause"] = "The gzip data is cut."
    overdue = event(1, "collection.overdue", collection_id="c0", data=data)

    assert (
        "No good backup of the collection db.sql (c0) has arrived: The gzip data is cut. It is expected every P1D and "
        "was due at 2026-11-22 02:00 UTC. Last good arrival: none." == describe(overdue, "db.sql")
    )
