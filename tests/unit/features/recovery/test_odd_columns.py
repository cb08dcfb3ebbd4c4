"""A journal with a value of the wrong type in any column: a recovery goes on, and what it recovers can be shown."""

from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core.db.models import Collection, Content, File
from frepo_core.domain.roles import Role
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.journal_files import JournalWriter
from frepo_core.features.recovery.journal.json_rows import names_of
from frepo_core.features.recovery.journal.objects import OBJECTS, table_of
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.rows.counters import COUNTERS
from frepo_core.services.backups.versions.version_edits import VersionChange

ODD = ["a word", "-1", "", -1, 5, 2**70, 1.5, True, [], [[]], ["a word"], {}, {"a": {"b": []}}]
LISTS = (
    "collections",
    "files",
    "tokens",
    "events",
    "deleted-collections",
    "aliases",
    "overview",
    "health",
)


@pytest.fixture
def ini(ini):
    return ini | {"trash.keep": "30d", "restore_tests.engines": "sqlite"}


@pytest.fixture
def day(services, sender, make_collection, push, upload, make_token):
    """Each kind of object several times."""
    for number in range(12):
        collection = make_collection(1, labels=["a"])
        versions = [push(collection, b"%d %d" % (number, one)).version for one in range(2)]
        services.version_edits.edit(collection, versions[-1].id, VersionChange(note="the last"), by=sender)
        services.collections.edit(collection, CollectionChange(limits={}, trash_keep="P1D"), by=sender)
        rows = Assertion(question="SELECT count(*) FROM orders")
        chosen = Choice(engine="sqlite", assertions={"rows": rows}, filled=["orders"])
        services.feature(RestoreTestServices).choices.set(services.collections.get(collection), chosen, by=None)
        file = upload(b"file %d" % number, name=f"{number}.txt", tags=["red"]).file
        token = make_token(Role.UPLOAD_VERSIONS, name=f"cron {number}")
        services.token_lists.grant(collection, services.tokens.fingerprint(token))
        if number % 4 == 0:
            services.files.delete(file.stored_name, "", by=sender)
            services.collections.delete(collection, by=sender, with_versions=True)
    services.feature(RecoveryServices).journal.write_catalogue()


def paths_of(name, values):
    """Return the paths of all columns of an object, also of those within the rows that it contains."""
    tables = {kind.name: kind.table for kind in OBJECTS} | {"file": table_of(File), "blob": table_of(Content)}
    own = dict.fromkeys([*values, *(names_of(tables[name]) if name in tables else ())])
    within = [(part, one) for part in ("file", "blob") if part in values for one in names_of(tables[part])]
    return [*((one,) for one in own if one not in {"file", "blob"}), *within]


def put(values, path, value):
    name, *rest = path
    return values | {name: put(values[name], rest, value) if rest else value}


def make_odd(path, value, done, *, only=None, more=()):
    """Write a catalogue in which the next columns of each kind have an odd value; return whether there was any."""
    file, changed, found = JournalFile(path), BytesIO(), len(done)
    head = {name: one for name, one in file.head.items() if name not in {"frepo", "format", "about"}}
    writer = JournalWriter(changed, "catalogue", head)
    for name, key, objects in file.objects():
        paths = [*paths_of(name, objects[0]), *more] if objects and only in {None, name} else ()
        odd = next((one for one in paths if (name, one) not in done), None)
        if odd:
            done.add((name, odd))
        writer.add(name, key, [put(one, odd, value) if odd else one for one in objects])
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(changed.getvalue())
    return len(done) > found


def new_admin(new):
    return new.services.tokens.generate(NewToken(roles=frozenset({Role.ADMINISTRATOR}), expires="never")).id


def show_all(new, make_test_app):
    """Show every list, and each collection with its own."""
    app = make_test_app(new.services)
    app.authorization = ("Bearer", new_admin(new))
    shown = list(LISTS)
    while shown:
        path = shown.pop()
        answer = app.get(f"/api/v1/{path}", expect_errors=True)
        assert answer.status_int == 200, (path, answer.text, new.report.unusable)
        if path == "collections":
            for one in answer.json["items"]:
                shown += [f"collections/{one['id']}{below}" for below in ("", "/versions", "/trash", "/restore-test")]


def test_a_value_of_a_plugin_has_any_type(services, recover):
    values = {f"key {place}": value for place, value in enumerate(ODD)}
    store = next(iter(services.contexts.values())).service.store
    for key, value in values.items():
        store.put(key, value)
    services.feature(RecoveryServices).journal.write_catalogue()

    new = recover()

    store = next(iter(new.services.contexts.values())).service.store
    assert values == {key: store.get(key).value for key in values}
    assert () == tuple(new.report.unusable)


@pytest.mark.parametrize("value", [ODD[0], *(pytest.param(one, marks=pytest.mark.costly) for one in ODD[1:])], ids=str)
def test_each_column_with_an_odd_value(day, storage, keys, recover, make_test_app, value):
    path, done = storage.path(max(keys())), set()
    sound = path.read_bytes()
    while make_odd(path, value, done):
        show_all(recover(unverified=True), make_test_app)
        path.write_bytes(sound)


@pytest.mark.costly
@pytest.mark.parametrize("value", ["a word", -1, 2**70, [], {"time": "a word"}, {"a": {"b": []}}], ids=str)
def test_a_deleted_collection_with_an_odd_value_can_be_restored_or_is_named(
    day, storage, keys, recover, make_test_app, value
):
    path = storage.path(max(keys()))
    kept, sound = [("settings", name) for name in names_of(table_of(Collection))], path.read_bytes()
    done = {("deleted_collection", one) for one in paths_of("deleted_collection", {})}
    while make_odd(path, value, done, only="deleted_collection", more=kept):
        new = recover(unverified=True)
        app = make_test_app(new.services)
        app.authorization = ("Bearer", new_admin(new))
        for one in app.get("/api/v1/deleted-collections").json["items"]:
            answer = app.post(f"/api/v1/deleted-collections/{one['id']}/restore", expect_errors=True)
            assert answer.status_int < 500, (answer.text, new.report.unusable)
        path.write_bytes(sound)


@pytest.mark.parametrize("value", [-1, 5])
def test_counters_that_drifted_are_counted_again(day, services, storage, keys, recover, value):
    def counters(services):
        with services.database.reading() as session:
            return {one.id: [getattr(one, name) for name in drifting] for one in session.scalars(select(Collection))}

    drifting = [*COUNTERS, *(["last_number"] if value < 0 else [])]
    path = storage.path(max(keys()))
    done = {("collection", (one,)) for one in ("tokens", *names_of(table_of(Collection))) if one not in drifting}
    make_odd(path, value, done, only="collection")

    new = recover(unverified=True)

    assert not new.report.unusable
    assert counters(services) == counters(new.services)
