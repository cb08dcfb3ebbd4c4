"""A database is recovered from a storage alone: what it has then, what is missing, and what is refused."""

import contextlib
import dataclasses
import shutil
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import select

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.db.models import Installation
from frepo_core.domain.roles import Role
from frepo_core.errors import ConfigurationError, StorageUnavailable
from frepo_core.features.aliases.feature import AliasServices
from frepo_core.features.enrolment.feature import EnrolmentServices
from frepo_core.features.recovery import recovery as recovery_module
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.journal_files import JournalWriter
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.recovery.recovery import RecoveryReport
from frepo_core.features.recovery.sources import RecoveryError, Source
from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.base.installation import ensure_id, require_no_recovery
from frepo_core.services.base.lease import LEADER, Lease, LeaseTerms
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.upkeep.storage import verify
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@dataclasses.dataclass(frozen=True)
class Recovered:
    services: object
    source: Source
    report: RecoveryReport
    missing: list


@pytest.fixture
def ini(fresh_database_url, ini):
    """The settings, after the second database was made: that empties the first one."""
    return ini | {"restore_tests.engines": "sqlite"}


@pytest.fixture
def open_empty(ini, plugins, migrated, fresh_database_url):
    """Open the services over an empty database, on the storage of the lost one."""
    with contextlib.ExitStack() as stack:

        def open_empty():
            path = fresh_database_url.removeprefix("sqlite:///")
            if path != fresh_database_url and not Path(path).exists():
                shutil.copy(migrated, path)
            services = assemble(ini | {"database.url": fresh_database_url}, {}, plugins)
            stack.callback(services.database.engine.dispose)
            migrations.upgrade(services.database.engine)
            return services

        yield open_empty


@pytest.fixture
def recover(open_empty):
    """Recover an empty database from a storage."""

    def recover(storage="local", *, with_tokens=True, unverified=False):
        services = open_empty()
        with services.feature(RecoveryServices).recovery(storage, lambda text: None, unverified=unverified) as recovery:
            source = recovery.find()
            report = recovery.run(source, with_tokens=with_tokens)
            return Recovered(services, source, report, list(recovery.missing()))

    return recover


@pytest.fixture
def busy_day(services, sender, run, make_collection, push, upload, make_token):
    """Let everything happen that leaves an object, before the first catalogue and after it."""

    def day(first=True):
        kept, small = make_collection(9, labels=["a"]), make_collection(1)
        versions = [push(kept, b"%d %s" % (number, kept.encode())).version for number in range(4)]
        services.version_edits.edit(kept, versions[0].id, VersionChange(pinned=True, note="the first"), by=sender)
        services.versions.delete(kept, "v2", by=sender)
        for number in range(3):
            push(small, b"%d" % number)
        services.trash.restore(kept, 2, by=sender)
        files = [upload(b"%d" % number, name=f"{number}.txt", tags=["red", "blue"]).file for number in range(3)]
        services.files.delete(files[0].stored_name, "", by=sender)
        services.feature(AliasServices).aliases.put(f"newest-{kept[:8]}", files[1].stored_name, by=sender)
        token = make_token(Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS, name=f"cron {kept[:8]}")
        services.token_lists.grant(kept, services.tokens.fingerprint(token))
        services.token_changes.revoke(services.tokens.fingerprint(make_token(Role.UPLOAD_ALL)))
        services.collections.delete(small, by=sender, with_versions=True)
        return kept, token

    return day


def dump(services, leave_out=("sample",)):
    """Return all objects of a database, by kind and key."""
    with services.database.reading() as session:
        return {
            (kind.name, *key): values
            for kind in services.feature(RecoveryServices).kinds
            if kind.name not in leave_out
            for page in kind.pages(session)
            for key, values in page
        }


def without_use(objects):
    """Leave out what the recovered service has done by itself, and what has no event."""
    left = {}
    for key, values in objects.items():
        if key[0] not in {"event", "installation"}:
            for name in ("last_used_at", "last_used_from"):
                values.pop(name, None)
            left[key] = values
    return left


@pytest.mark.databases
def test_a_recovered_database_has_what_the_lost_one_had(services, run, busy_day, recover):
    first, token = busy_day()
    run("catalogue")
    second, _ = busy_day()
    services.feature(RecoveryServices).journal.write_changes()
    services.versions.delete(first, "v3", by=services.tokens.look_up(token))
    services.feature(RecoveryServices).journal.write_changes()
    lost = without_use(dump(services))

    found = recover()

    assert lost == without_use(dump(found.services))
    assert ([], 0, ()) == (found.missing, found.report.missing, found.source.problems)
    assert [1, 2, 4] == [version.number for version in found.services.versions.list(first)]
    by = found.services.tokens.identify(token, address="127.0.0.1", user_agent="")
    assert by.fingerprint in {one.fingerprint for one in found.services.token_lists.tokens(first)}
    assert ensure_id(services.database) != ensure_id(found.services.database)
    assert second in [key[1] for key in lost if key[0] == "collection"]


@pytest.mark.databases
@pytest.mark.parametrize("is_used_again", [False, True])
def test_a_base_that_no_version_uses_and_a_number_that_was_used_again_get_rows(
    services, storage, make_collection, push, sender, recover, keys, is_used_again
):
    collection, contents, blobs = make_collection(99), list(nights(2, 500)), StoredBlobs(services)
    others = [b"%d" % number for number in range(20)]  # more than a transaction is tried again
    for content in (*others, *contents):
        push(collection, content)
    assert blobs.encode(*contents)
    blobs.end_superseded()
    services.versions.delete(collection, "v22", by=sender)
    services.trash.end(collection, 22, by=sender)
    services.feature(RecoveryServices).journal.write_catalogue()
    path, changed = storage.path(max(keys())), BytesIO()
    file = JournalFile(path)
    head = {name: value for name, value in file.head.items() if name not in {"frepo", "format", "about"}}
    writer = JournalWriter(changed, "catalogue", head)
    for name, key, values in file.objects():  # as if a database had been restored that gave the same ids again
        if is_used_again and name == "version":
            values = [one | {"blob": one["blob"] | {"id": 1}} for one in values]
        writer.add(name, key, values)
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(changed.getvalue())

    new = recover(unverified=True).services

    assert ([], 21) == (verify(new.database, new.backends).damaged, len(new.versions.list(collection)))
    push_to = new.collections.get(collection)
    assert new.add_version.add(push_to, Incoming(stream=BytesIO(b"new")), by=sender).version.number == 23


@pytest.mark.costly
@pytest.mark.databases
def test_a_recovered_service_goes_on(services, run, busy_day, recover):
    first, token = busy_day()
    run("catalogue")

    found = recover()
    new = found.services
    by = new.tokens.identify(token, address="127.0.0.1", user_agent="")
    made = new.feature(EnrolmentServices).hosts.enrol("db9", CollectionChange(limits={}, filename="new.sql")).collection
    added = new.add_version.add(new.collections.get(first), Incoming(stream=BytesIO(b"new")), by=by).version
    new.versions.delete(first, "v4", by=by)

    assert (5, "new.sql") == (added.number, new.collections.get(made.id).filename)
    new.feature(RecoveryServices).journal.write_catalogue()
    assert [] == list(new.feature(RecoveryServices).journal.write_changes().needing)


@pytest.mark.costly
def test_the_old_service_stops_writing(services, run, busy_day, recover, push):
    run("catalogue")
    first, _ = busy_day()
    run("catalogue")

    recover()

    with pytest.raises(StorageUnavailable, match="the mark of this database is missing"):
        push(first, b"too late")
    with pytest.raises(StorageUnavailable):
        services.feature(RecoveryServices).journal.write_changes()


def test_what_is_named_and_missing_is_listed(services, storage, run, make_collection, push, recover):
    collection = make_collection(9)
    lost, _ = (push(collection, content).version for content in (b"one", b"two"))
    run("catalogue")
    storage.delete(lost.file.blob.key)

    found = recover()

    [missing] = found.missing
    assert (f"version {collection} 1", lost.file.blob.digest, 3) == (missing.what, missing.digest, missing.size)
    versions = found.services.versions.list(collection)
    assert [(1, True), (2, False)] == [(version.number, version.file.blob.is_damaged) for version in versions]


def test_a_damaged_catalogue_is_passed_over_for_the_one_before(services, storage, run, keys, make_collection, recover):
    first = make_collection(9)
    run("catalogue")
    second = make_collection(9)
    services.feature(RecoveryServices).journal.write_changes()
    run("catalogue")
    third = make_collection(9)
    services.feature(RecoveryServices).journal.write_changes()
    newest = max(key for key in keys() if key.startswith("catalogue/"))
    storage.path(newest).write_bytes(storage.path(newest).read_bytes()[:-20])

    found = recover()

    assert found.source.catalogue.text != newest
    assert [f"{newest} cannot be used"] == [problem.partition(":")[0] for problem in found.source.problems]
    assert all(found.services.collections.get(one) for one in (first, second, third))


def test_a_damaged_or_lost_part_is_named_and_the_rest_is_used(services, storage, run, keys, make_collection, recover):
    run("catalogue")
    made = []
    for _ in range(4):
        made.append(make_collection(9))
        services.feature(RecoveryServices).journal.write_changes()
    parts = [key for key in keys() if key.startswith("journal/")]
    storage.path(parts[1]).write_bytes(b"damaged")

    found = recover()

    assert [f"{parts[1]} cannot be used"] == [problem.partition(":")[0] for problem in found.source.problems]
    assert all(found.services.collections.get(one) for one in (made[0], made[3]))


def test_a_storage_without_a_catalogue_is_refused(services, upload, recover):
    upload(b"one")

    with pytest.raises(RecoveryError, match="The storage 'local' has no catalogue"):
        recover()


def test_a_database_that_is_not_empty_is_refused(services, run, upload):
    upload(b"one")
    run("catalogue")

    with (
        services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery,
        pytest.raises(RecoveryError, match="is not empty"),
    ):
        recovery.find()


def test_a_database_that_a_service_uses_is_refused(upload, run, open_empty):
    upload(b"one")
    run("catalogue")
    services = open_empty()
    assert Lease(services.database, LEADER, holder="host:1", terms=LeaseTerms()).try_acquire()

    with (
        services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery,
        pytest.raises(RecoveryError, match="Stop it first"),
    ):
        recovery.find()


def test_what_a_newer_version_has_written_is_refused(upload, run, recover, monkeypatch):
    upload(b"one")
    run("catalogue")
    monkeypatch.setattr(recovery_module, "head_revision", lambda: "0001")

    with pytest.raises(RecoveryError, match="written by a newer version of frepo"):
        recover()


def test_without_the_phrase_no_token_comes_back(make_token, run, recover):
    make_token(Role.UPLOAD_ALL)
    run("catalogue")

    assert "token" not in {key[0] for key in dump(recover(with_tokens=False).services)}


@pytest.mark.costly
@pytest.mark.parametrize("calls", [1, 3, 6])
def test_an_interrupted_recovery_is_repeated(services, run, busy_day, open_empty, monkeypatch, calls):
    busy_day()
    run("catalogue")
    busy_day()
    services.feature(RecoveryServices).journal.write_changes()
    lost = without_use(dump(services))
    services = open_empty()
    left = [calls]

    def load(self, kind, objects, load=recovery_module.RowLoader.load):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        load(self, kind, objects)

    with (
        monkeypatch.context() as patch,
        services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery,
    ):
        patch.setattr(recovery_module.RowLoader, "load", load)
        with pytest.raises(KeyboardInterrupt):
            recovery.run(recovery.find(), with_tokens=True)
    with pytest.raises(ConfigurationError, match="frepo recover --from local"):
        require_no_recovery(services.database)

    with services.feature(RecoveryServices).recovery("local", lambda text: None) as recovery:
        recovery.run(recovery.find(), with_tokens=True)

    require_no_recovery(services.database)
    assert lost == without_use(dump(services))


@pytest.mark.costly
def test_without_the_phrase_all_but_the_tokens_is_recovered(services, run, busy_day, recover):
    collection, _ = busy_day()
    run("catalogue")

    found = recover(with_tokens=False)

    with found.services.database.reading() as session:
        assert "token_phrase_check" not in session.scalars(select(Installation.name)).all()
    names = {key[0] for key in dump(found.services)}
    assert "token" not in names
    assert "version" in names
    assert found.services.collections.get(collection)


def test_the_collections_of_a_fleet_keep_their_ids(services, run, recover):
    change = CollectionChange(limits={}, filename="db1.sql")
    before = services.feature(EnrolmentServices).hosts.enrol("db1", change)
    run("catalogue")

    found = recover()

    again = found.services.feature(EnrolmentServices).hosts.enrol("db1", change)
    assert (before.collection.id, False) == (again.collection.id, again.is_new)


@pytest.mark.parametrize("runs", [["catalogue"], ["catalogue", "journal"]])
def test_the_choices_of_restore_tests_are_recovered(services, sender, run, make_collection, recover, runs):
    kept, deleted = make_collection(5), make_collection(5)
    if len(runs) > 1:
        run("catalogue")
    chosen = Choice(engine="sqlite", assertions={"rows": Assertion(question="SELECT count(*) FROM orders", min=1)})
    for one in (kept, deleted):
        services.feature(RestoreTestServices).choices.set(services.collections.get(one), chosen, by=None)
    services.collections.delete(deleted, by=sender)
    run(runs[-1])

    found = recover().services
    found.deleted_collections.restore(deleted, by=sender)

    choices = found.feature(RestoreTestServices).choices
    assert [chosen, chosen] == [choices.of(one) for one in (kept, deleted)]
