"""The signature of a report and the chain over its events, verified by docs/verify_report.py."""

import copy
import gzip
import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, update

from frepo_core.db.models import Event, Lease, ParkedEvent
from frepo_core.domain.roles import Role
from frepo_core.features.evidence.feature import EvidenceServices
from frepo_core.features.evidence.signing import ReportKey, signed_bytes
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events.numbering import number_events
from support.fixtures.recovery import *  # noqa: F403
from support.paths import ROOT


@pytest.fixture
def reports(services):
    return services.feature(EvidenceServices).reports


@pytest.fixture
def number(services, make_lease):
    lease = make_lease("first", LEADER)
    assert lease.try_acquire()
    return lambda: number_events(services.database, lease.epoch)


@pytest.fixture
def happened(services, make_collection, push, number, by):
    """Backups arrive and one is deleted, each in a numbering of its own."""
    made = make_collection(5)
    for content in (b"1", b"2", b"3"):
        push(made, content)
        number()
    services.versions.delete(made, "v1", by=by)
    number()
    return made


@pytest.fixture
def verify(tmp_path, reports):
    """Verify a report; return the exit status and what was printed."""

    def verify(report, *files, key=None):
        path = tmp_path / "report.json"
        path.write_text(json.dumps(report, indent=2))
        command = [sys.executable, ROOT / "docs/verify_report.py", path, key or reports.key.public, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return verify


@pytest.fixture
def make(reports):
    return lambda: json.loads(reports.restores(proof=True).model_dump_json())


@pytest.fixture
def signed(reports):
    """Sign a changed report again: whoever has the key, such as a service with a changed database, can do that."""

    def signed(report):
        return report | {"signature": reports.key._private.sign(signed_bytes(report)).hex()}

    return signed


def change_links(services):
    """Change an event behind the service, and make all links again: its database's administrator can do that."""
    from frepo_core.services.events.chain import COLUMNS, canonical_form, digest_of, next_link

    def work(session):
        session.execute(update(Event).where(Event.kind == "version.deleted").values(actor="somebody-else"))
        link = ""
        for row in session.execute(select(*COLUMNS, Event.position).order_by(Event.position)).all():
            link = next_link(link, digest_of(canonical_form(row, row.position)))
            session.execute(update(Event).where(Event.id == row.id).values(link=link))

    services.database.write(work)


def test_a_right_report_is_right(happened, make, verify):
    report = make()

    [segment] = report["chain"]["segments"]
    assert ("start", 0) == (segment["begins"], segment["after"])
    assert "version.deleted" in {one["kind"] for one in segment["entries"] if isinstance(one, dict)}
    status, text = verify(report)
    assert (0, True) == (status, "right: the signature" in text)


def test_what_verifies_it_can_be_read_in_a_minute():
    assert len((ROOT / "docs/verify_report.py").read_text().splitlines()) <= 40


def test_one_changed_byte_is_found(happened, make, verify):
    report = make()
    text = json.dumps(report)
    place = text.index("version.deleted")
    changed = json.loads(f"{text[:place]}X{text[place + 1 :]}")

    assert (1, True) == verify_told(verify, changed, "not signed with this key")


def verify_told(verify, report, words):
    status, text = verify(report)
    return status, words in text


def test_another_key_is_not_that_of_the_installation(happened, make, verify):
    status, text = verify(make(), key=ReportKey("another", "service").public)

    assert (1, True) == (status, "not signed with this key" in text)


@pytest.mark.parametrize("is_signed_again", [False, True])
@pytest.mark.parametrize("change", ["left out", "swapped", "changed", "last left out"])
def test_a_chain_with_another_event_is_wrong_even_if_it_is_signed_again(
    happened, make, verify, signed, change, is_signed_again
):
    report = make()
    entries = report["chain"]["segments"][0]["entries"]
    before = copy.deepcopy(entries)
    if change == "left out":
        del entries[1]
    elif change == "swapped":
        entries[1], entries[2] = entries[2], entries[1]
    elif change == "last left out":
        entries.pop()
    else:
        next(one for one in entries if isinstance(one, dict))["actor"] = "nobody"
    assert before != entries

    status, text = verify(signed(report) if is_signed_again else report)

    assert (1, True) == (status, "WRONG" in text)


def test_a_changed_event_in_the_database_is_a_break(happened, services, make, verify):
    services.database.write(
        lambda session: session.execute(update(Event).where(Event.position == 3).values(actor="nobody"))
    )

    report = make()

    assert ["start", "changed"] == [one["begins"] for one in report["chain"]["segments"]]
    assert 3 == report["chain"]["segments"][1]["after"]


def test_pruned_events_are_a_break_with_an_anchor_of_its_own(happened, services, make, verify):
    services.database.write(lambda session: session.execute(delete(Event).where(Event.position <= 2)))
    report = make()

    [segment] = report["chain"]["segments"]

    assert ("pruned", 3) == (segment["begins"], segment["after"])
    assert 64 == len(segment["link"])
    assert 0 == verify(report)[0]


def test_events_from_before_the_chain_are_counted(happened, services, make, push, number):
    services.database.write(lambda session: session.execute(update(Event).values(link=None)))
    push(happened, b"4")
    number()

    chain = make()["chain"]

    assert "start" == chain["segments"][0]["begins"]
    assert chain["unlinked"] == chain["segments"][0]["after"]


def test_the_journal_of_a_storage_shows_a_database_whose_events_were_changed(
    happened, services, make, verify, run, storage, tmp_path
):
    run("catalogue")
    before = make()
    [anchor] = before["chain"]["anchors"]
    assert (True, 0) == (anchor["fits"], verify(before)[0])
    with storage.open(anchor["key"]) as content:
        (tmp_path / "kept").write_bytes(content.read())
    assert 0 == verify(before, tmp_path / "kept")[0]

    change_links(services)
    report = make()

    assert [False] == [one["fits"] for one in report["chain"]["anchors"]]
    assert (1, True) == verify_told(verify, report, "a storage has another link")
    hidden = report | {"chain": report["chain"] | {"anchors": []}}
    assert 0 == verify(services_signed(services, hidden))[0]  # who can sign can hide it from whoever has no copy
    assert 1 == verify(services_signed(services, hidden), tmp_path / "kept")[0]


def services_signed(services, report):
    key = services.feature(EvidenceServices).reports.key
    return report | {"signature": key._private.sign(signed_bytes(report)).hex()}


@pytest.mark.parametrize("position", [2, 3, 4])
def test_an_event_that_was_deleted_between_others_is_wrong(happened, services, make, verify, position):
    services.database.write(lambda session: session.execute(delete(Event).where(Event.position == position)))

    assert (1, True) == verify_told(verify, make(), f"position {position + 1} does not follow")


def test_events_that_were_deleted_before_the_report_begins_do_not_look_pruned(happened, services, reports, verify):
    """An older event is there, so they were not old enough."""
    with services.database.reading() as session:
        times = dict(session.execute(select(Event.position, Event.at)).all())
    services.database.write(lambda session: session.execute(delete(Event).where(Event.position.in_([3, 4]))))
    report = json.loads(reports.restores(since=times[3], proof=True).model_dump_json())

    assert (1, True) == verify_told(verify, report, "or that is missing")


def test_what_the_job_prunes_is_right_also_if_times_are_not_in_order_and_an_event_is_parked(
    happened, services, make, verify, run
):
    old = datetime.now(UTC) - timedelta(days=9000)
    with services.database.reading() as session:
        [parked, *_] = session.scalars(select(Event.id).order_by(Event.position))
    services.database.write(
        lambda session: session.execute(update(Event).where(Event.position.in_([1, 2, 4])).values(at=old))
    )
    kept = {"subscription": "mail", "event_id": parked, "kind": "x", "tries": 12, "error": "x", "parked_at": old}
    services.database.write(lambda session: session.add(ParkedEvent(**kept)))
    relink(services)

    run("events")
    report = make()

    with services.database.reading() as session:
        positions = session.scalars(select(Event.position).where(Event.position.is_not(None)))
        assert [1, 3, 4] == sorted(positions)[:3]
    assert (["pruned"], 0) == ([one["begins"] for one in report["chain"]["segments"]], verify(report)[0])


def test_a_database_that_was_restored_from_a_backup_is_a_break_and_not_wrong(
    begun, happened, services, back_up, push, number, verify, make_lease, storage, keys, tmp_path
):
    """The journal has events that the backup lacks: others can have a copy of it."""
    journal = services.feature(RecoveryServices).journal
    journal.write_changes()
    before = kept(storage, keys()[-1], tmp_path)
    restore = back_up()
    push(happened, b"lost with the database")
    number()
    journal.write_changes()
    lost = kept(storage, keys()[-1], tmp_path)

    restored = restore()
    relabel(restored, "restored")
    restored.feature(RecoveryServices).journal.write_changes()
    restored.feature(RecoveryServices).journal.write_catalogue()
    with restored.database.reading() as session:
        while number_events(restored.database, session.scalar(select(Lease.epoch).where(Lease.name == LEADER))):
            pass

    report = json.loads(restored.feature(EvidenceServices).reports.restores(proof=True).model_dump_json())
    status, text = verify(report, before, lost)

    assert (0, True) == (status, "restored" in text), text
    [found] = report["chain"]["restored"]
    assert ("local", 64) == (found["storage"], len(found["link"]))
    change_links(restored)
    changed = json.loads(restored.feature(EvidenceServices).reports.restores(proof=True).model_dump_json())
    assert 1 == verify(changed, before)[0]  # what both have is compared as ever


def kept(storage, key, folder):
    """Return a copy of a file of the journal."""
    path = folder / key.replace("/", "-")
    with storage.open(key) as content:
        path.write_bytes(content.read())
    return path


def relabel(services, name):
    """Let something happen in a restored database that has not happened before."""
    services.tokens.generate(NewToken(roles=[Role.UPLOAD_ALL], name=name))


def relink(services):
    """Make all links again: those of events whose times a test has set."""
    change_links(services)


def test_a_database_without_its_last_events_is_wrong(happened, services, make, verify, run, push, number):
    run("catalogue")
    services.database.write(lambda session: session.execute(delete(Event).where(Event.position > 3)))

    [anchor] = make()["chain"]["anchors"]

    assert anchor["fits"] is False
    push(happened, b"another history")
    number()
    assert [False] == [one["fits"] for one in make()["chain"]["anchors"]]


def test_a_member_that_is_there_twice_is_wrong(happened, make, verify, tmp_path, reports):
    text = json.dumps(make())
    for inner in ('{"collections": [], ', '{"signature": "", '):
        (tmp_path / "twice.json").write_text(inner + text[1:])
        command = [sys.executable, ROOT / "docs/verify_report.py", tmp_path / "twice.json", reports.key.public]
        done = subprocess.run(command, capture_output=True, text=True, check=False)

        assert (1, True) == (done.returncode, "WRONG" in done.stderr and "twice" in done.stderr)


def test_a_report_about_nights_has_a_signature_and_no_chain(happened, reports, verify):
    right = json.loads(reports.nights().model_dump_json())

    assert (0, True) == verify_told(verify, right, "right: the signature, and the chain over 0 positions")
    assert (1, True) == verify_told(verify, right | {"since": right["until"]}, "not signed with this key")
    without = json.loads(reports.restores().model_dump_json())
    assert (1, True) == verify_told(verify, without, "it has no chain")


@pytest.mark.parametrize("change", ["actor", "link"])
def test_a_report_with_an_event_that_was_changed_in_the_database_is_wrong(happened, services, make, verify, change):
    services.database.write(
        lambda session: session.execute(update(Event).where(Event.position == 3).values({change: "nobody"}))
    )

    assert (1, True) == verify_told(verify, make(), "position 3 does not follow")


def test_a_file_of_a_journal_that_says_nothing_of_the_report_is_not_right(happened, make, verify, tmp_path):
    for head in ({"linked": 10_000, "link": "0" * 64}, {"other": 1}):
        (tmp_path / "other").write_bytes(gzip.compress(json.dumps(head).encode() + b"\n"))

        assert (1, True) == verify_told_of(verify, make(), tmp_path / "other", "says nothing of the events")


def verify_told_of(verify, report, file, words):
    status, text = verify(report, file)
    return status, words in text


def test_events_without_a_link_are_named(happened, services, make, verify):
    services.database.write(lambda session: session.execute(update(Event).values(link=None)))

    assert (0, True) == verify_told(verify, make(), "chain over 0 positions")
    assert "have no link" in verify(make())[1]
