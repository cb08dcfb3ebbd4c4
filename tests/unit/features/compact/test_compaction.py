"""What the job `compact` encodes, what it leaves, and what it stores raw again."""

import gzip
import os
import random
import resource
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.db.types import simulated_time
from frepo_core.features.compact import encoder_process
from frepo_core.features.compact.compact_report import CompactReport
from frepo_core.features.compact.encoder_process import EncoderProcess, EncodingError
from frepo_core.features.compact.feature import CompactServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.testing import Fail


@pytest.mark.costly
def test_older_versions_become_differences_and_the_newest_stays_raw(history):
    collection = history.make()
    for _ in range(5):
        history.push(collection)

    summary = history.job()

    assert ["delta"] * 4 + ["raw"] == history.encodings(collection)
    assert (4, 0, 0) == (summary["encoded"], summary["failed"], summary["left"])
    assert summary["after_size"] * 4 < summary["before_size"]
    assert 0 == history.job()["encoded"]
    history.check()


def test_a_version_of_today_waits(history):
    collection = history.make()
    history.push(collection)
    history.push(collection, hours=1)

    assert 0 == history.job()["encoded"]
    assert 1 == history.job(hours=25)["encoded"]


def test_what_is_compressed_is_tried_once_and_left(history):
    collection = history.make()
    for _ in range(3):
        history.push(collection, gzip.compress(random.randbytes(100_000)))

    first, second = history.job(), history.job()

    assert (2, 0) == (first["left"], second["left"])
    assert ["raw"] * 3 == history.encodings(collection)
    history.check()


@pytest.mark.parametrize("use", ["pinned", "plain file"])
def test_what_is_pinned_or_a_plain_file_stays_raw(history, services, by, use):
    collection = history.make()
    for _ in range(3):
        number = history.push(collection)
    if use == "pinned":
        version = services.versions.find(collection, "v1")
        services.version_edits.edit(collection, version.id, VersionChange(pinned=True), by=by)
    else:
        services.files.add(NewFile(name="a"), Incoming(stream=BytesIO(history.contents[collection][1])), by=by)

    history.job()

    assert (["raw", "delta", "raw"], 3) == (history.encodings(collection), number)


def test_what_is_locked_stays_raw_also_in_the_trash(history, services, by):
    collection, trashed = history.make(), history.make()
    for _ in range(3):
        history.push(collection)
        history.push(trashed)
    (row,) = (row for number, row in history.rows(trashed).items() if number == 1)
    history.delete(trashed, "v1")
    with simulated_time(history.time):
        for name in (collection, trashed):
            services.collections.edit(name, CollectionChange(limits={}, locked=timedelta(days=30)), by=by)

    history.job()

    assert ["raw"] * 3 == history.encodings(collection)
    with services.database.reading() as session:
        current = (StoredObject.content_id == row.content_id, StoredObject.slot == 1)
        assert ["raw"] == session.scalars(select(StoredObject.encoding).where(*current)).all()


def test_what_was_restored_lately_stays_raw(history, services, by):
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    history.delete(collection, "v1")
    with simulated_time(history.time):
        services.trash.restore(collection, 1, by=by)

    history.job()

    assert ["raw", "delta", "raw"] == history.encodings(collection)


def test_the_newest_good_version_stays_raw(history):
    collection = history.make(guards={"min_version_size": 1000, "action": "mark"})
    for _ in range(3):
        history.push(collection)
    history.push(collection, b"cut")

    history.job()

    assert ["delta", "delta", "raw", "raw"] == history.encodings(collection)


@pytest.mark.costly
def test_contents_that_two_collections_have_in_another_order(history):
    """A, B, A: neither may be the base of the other."""
    one, other = history.make(), history.make()
    a, b = history.dump(), history.dump()
    for content in (a, b, None):
        history.push(one, content)
    for content in (b, a, None):
        history.push(other, content)
    for _ in range(2):
        history.push(one)
        history.push(other)
    history.job()

    history.check()
    rows = history.rows(one)
    assert {rows[1].base_digest, rows[2].base_digest} & {rows[1].digest, rows[2].digest} == set()


@pytest.mark.costly
def test_what_an_evicted_base_is_needed_for_is_moved(history, services):
    collection = history.make()
    for _ in range(4):
        history.push(collection)
    history.job()
    base = history.rows(collection)[2]
    assert base.digest == history.rows(collection)[1].base_digest
    history.delete(collection, "v2")
    history.night(collection)

    assert base.digest != history.rows(collection)[1].base_digest
    history.check()
    history.job("trash", days=4)
    history.job(days=4)
    with services.database.reading() as session:
        assert session.get(StoredObject, base.id) is None
    history.check()


@pytest.mark.costly
def test_one_that_fails_does_not_stop_the_others(history, wrap):
    collection = history.make()
    for _ in range(4):
        history.push(collection)
    wrap(Fail("store", nth=1))

    summary = history.job()

    assert (1, 2) == (summary["failed"], summary["encoded"])
    assert 1 == history.job()["encoded"]
    history.check()


@pytest.mark.costly
def test_all_is_expanded_and_that_can_be_repeated(history, services):
    collection = history.make()
    for _ in range(4):
        history.push(collection)
    history.job()
    with simulated_time(history.time):
        reports = [services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None) for _ in range(2)]

    assert [3, 0] == [report.expanded for report in reports]
    assert ["raw"] * 4 == history.encodings(collection)
    history.check()


@pytest.mark.costly
def test_what_the_process_cannot_decode_is_expanded_by_the_worker(history, services, monkeypatch):
    """The process knows no second copies, and may be killed."""
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    history.job()
    tasks = []

    def fail(self, task, keep_going):
        tasks.append(task)
        raise EncodingError("the process that encodes has ended")

    monkeypatch.setattr(EncoderProcess, "encode", fail)
    report = services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)

    assert [True, True] == [task.is_raw for task in tasks]
    assert (2, 0) == (report.expanded, report.failed)
    history.check()


@pytest.mark.costly
def test_what_would_be_saved_is_found_without_changing_anything(history, services, state):
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    before = state()

    with simulated_time(history.time + timedelta(hours=1)):
        forecast = services.feature(CompactServices).compaction.forecast(keep_going=lambda: None)

    assert before == state()
    summary = history.job()
    assert (2, summary["before_size"]) == (forecast.contents, forecast.size)
    assert summary["before_size"] - summary["after_size"] == pytest.approx(forecast.saved_size, rel=0.1)


def test_nothing_is_begun_in_the_hour_in_which_uploads_come(history):
    collection = history.make()
    for _ in range(3):
        history.push(collection)

    summary = history.job(minutes=5)

    assert (0, 2) == (summary["encoded"], summary["waiting"])
    assert summary["waits"].startswith(
        f"until {(history.time + timedelta(hours=1)):%H}:00 UTC, because uploads usually"
    )
    assert not {"waits", "problem"} & history.job().keys()


def test_what_could_not_be_encoded_is_an_outcome_of_its_own():
    report = CompactReport()
    assert "problem" not in report.summary()

    report.note_failure("content abc", EncodingError("the process that encodes has ended"))

    problem = report.summary()["problem"]
    assert problem.startswith("1 could not be encoded, and will be tried again: content abc: the process")


def test_a_line_about_what_takes_more_says_so():
    report = CompactReport(encoded=1, before_size=2_000_000, after_size=500_000)
    assert "1 contents encoded, 1.50 MB saved" == report.line()

    report.after_size = 5_000_000

    assert "1 contents encoded, 3.00 MB more" == report.line()


@pytest.mark.costly
def test_a_run_that_must_not_go_on_ends_the_process(history, services, monkeypatch):
    collection = history.make()
    for _ in range(3):
        history.push(collection)
    processes = []
    started = EncoderProcess._started

    def note(self):
        processes.append(started(self))
        return processes[-1]

    monkeypatch.setattr(EncoderProcess, "_started", note)
    monkeypatch.setattr(encoder_process, "WAIT_SECONDS", 0.01)

    class LostError(Exception):
        pass

    def check():
        if processes:
            raise LostError

    with pytest.raises(LostError), simulated_time(history.time + timedelta(hours=8)):
        services.feature(CompactServices).compaction.run(keep_going=check)

    assert processes[0].returncode is not None
    assert ["raw"] * 3 == history.encodings(collection)
    assert 2 == history.job()["encoded"]
    history.check()


@pytest.mark.costly
def test_a_storage_with_the_least_that_the_contract_asks_for(history, services, tmp_path):
    """No path, no URL, and streams that cannot seek, as of a third party's storage: objects are copied to files."""

    class Least:
        def __init__(self, stream):
            self.read, self.close = stream.read, stream.close

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

    class Foreign:
        def __getattr__(self, name):
            return getattr(local, name)

        def path(self, key):
            return None

        def open(self, key, start=0, length=None):
            return Least(local.open(key, start, length))

    local, collection = services.backends.get("local"), history.make()
    services.backends._built["local"] = Foreign()
    for _ in range(3):
        history.push(collection)
    first = history.job()
    for _ in range(2):
        history.push(collection)
    second = history.job()

    assert (2, 0, 0) == (first["encoded"], first["failed"], second["failed"])
    assert ["delta"] * 4 + ["raw"] == history.encodings(collection)
    assert [] == list((tmp_path / "temporary").glob("frepo-compact-*"))
    history.check()


@pytest.mark.costly
def test_a_process_that_is_killed_fails_one_content_only(history, monkeypatch):
    collection, tasks, started = history.make(), [], EncoderProcess._started
    for _ in range(4):
        history.push(collection)

    def kill_fifth(self):
        """After the sketches of four contents."""
        process = started(self)
        tasks.append(process)
        if len(tasks) == 5:
            process.kill()
            process.wait()
        return process

    monkeypatch.setattr(EncoderProcess, "_started", kill_fifth)
    summary = history.job()

    assert (1, 2) == (summary["failed"], summary["encoded"])
    assert 1 == history.job()["encoded"]
    history.check()


@pytest.mark.costly
def test_the_former_bytes_are_deleted_after_two_days(history, services):
    collection = history.make()
    for _ in range(2):
        history.push(collection)
    history.job()
    raw = history.rows(collection)[1]

    assert 0 == history.job(days=1)["deleted"]
    assert 1 == history.job(days=3)["deleted"]
    with services.database.reading() as session:
        assert session.scalar(select(StoredObject.encoding).where(StoredObject.id == raw.id)) == "delta"
    history.check()


@pytest.fixture
def small_files():
    """From the call on, no file may become large, so that a test that fails fills no disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_object_is_copied_no_further_than_its_record_says(history, services, small_files):
    """Whoever can write to a bucket could fill the disk for temporary files otherwise."""

    class WithoutPaths:
        def __getattr__(self, name):
            return getattr(local, name)

        def path(self, key):
            return None

    local, collection = services.backends.get("local"), history.make()
    services.backends._built["local"] = WithoutPaths()
    for _ in range(3):
        history.push(collection)
    oldest = min(history.rows(collection).items())[1]
    local.path(oldest.key).chmod(0o600)
    os.truncate(local.path(oldest.key), 1 << 40)
    small_files()

    found = history.job()

    assert (1, 1) == (found["encoded"], found["failed"])
