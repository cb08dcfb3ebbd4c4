"""A journal with a value of the wrong type in any column: a recovery goes on, and what it recovers can be shown."""

from io import BytesIO

import pytest

from frepo_core.domain.roles import Role
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.journal_files import JournalWriter
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.restore_tests.assertions import Assertion
from frepo_core.features.restore_tests.choices import Choice
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange

ODD = ["a word", 5, 2**70, 1.5, True, [], [[]], {}, {"a": {"b": []}}]
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


def paths_of(values, path=()):
    """Yield the paths of all columns, also of those within the rows that an object contains."""
    for name, value in values.items():
        yield (*path, name)
        if isinstance(value, dict) and name in {"file", "blob"}:
            yield from paths_of(value, (*path, name))


def is_of_type(value, kept):
    return type(value) is type(kept) and value not in ([[]], 2**70)


def value_at(values, path):
    for name in path:
        values = values[name]
    return values


def put(values, path, value):
    name, *rest = path
    return values | {name: put(values[name], rest, value) if rest else value}


def test_a_value_of_a_plugin_has_any_type(services, recover):
    values = dict(zip("abcdefghi", ODD, strict=True))
    store = next(iter(services.contexts.values())).service.store
    for key, value in values.items():
        store.put(key, value)
    services.feature(RecoveryServices).journal.write_catalogue()

    new = recover()

    store = next(iter(new.services.contexts.values())).service.store
    assert values == {key: store.get(key).value for key in values}
    assert () == tuple(new.report.unusable)


@pytest.mark.parametrize("value", [ODD[0], *(pytest.param(one, marks=pytest.mark.costly) for one in ODD[1:])], ids=str)
def test_each_column_with_a_value_of_the_wrong_type(day, storage, keys, recover, make_test_app, value):
    path = storage.path(max(keys()))
    file, changed = JournalFile(path), BytesIO()
    writer = JournalWriter(
        changed, "catalogue", {k: v for k, v in file.head.items() if k not in {"frepo", "format", "about"}}
    )
    done = set()
    for name, key, objects in file.objects():
        # The next column of this kind that was not odd yet; when all were, the object stays as it is.
        paths = (
            [one for one in paths_of(objects[0]) if not is_of_type(value, value_at(objects[0], one))] if objects else []
        )
        odd = next(((name, one) for one in paths if (name, one) not in done), None)
        done.add(odd)
        writer.add(name, key, [put(one, odd[1], value) if odd else one for one in objects])
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(changed.getvalue())

    new = recover(unverified=True)

    app = make_test_app(new.services)
    admin = new.services.tokens.generate(NewToken(roles=frozenset({Role.ADMINISTRATOR}), expires="never")).id
    app.authorization = ("Bearer", admin)
    shown = list(LISTS)
    while shown:
        path = shown.pop()
        answer = app.get(f"/api/v1/{path}", expect_errors=True)
        assert answer.status_int == 200, (path, answer.text, new.report.unusable)
        if path == "collections":
            for one in answer.json["items"]:
                shown += [f"collections/{one['id']}{below}" for below in ("", "/versions", "/trash", "/restore-test")]
