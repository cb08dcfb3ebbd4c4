"""What a plug-in keeps in the database: values under keys, and tables of its own."""

import shutil
import threading

import pytest

from frepo_core import assemble
from frepo_core.db.models import Event
from frepo_core.errors import ReadOnlyError
from frepo_core.plugins import PluginEventKind, StoreConflictError
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition.startup import make_ready
from frepo_core.tables import utc_now

from .acme_tables import Wall, drop_tables, tables

pytestmark = pytest.mark.databases

KIND = PluginEventKind(name="acme.painted", sentence="A wall was painted.", keys=("colour",))


@pytest.fixture
def services(ini, database_kind, migrated, tmp_path):
    if database_kind == "sqlite":
        shutil.copy(migrated, tmp_path / "frepo.db")
    plugins = [
        FoundPlugin(
            name=name,
            distribution=name,
            version="1",
            event_kinds=[KIND] if name == "acme" else [],
            tables=tables if name == "acme" else tuple,
        )
        for name in ("acme", "other")
    ]
    registry = PluginRegistry([*PluginRegistry.from_entry_points().found, *plugins])
    services = assemble(ini | {"database.auto_upgrade": "true"}, {}, registry)
    make_ready(services.database, services.settings, services.plugins, services.backends)
    yield services
    drop_tables(services.database.engine)
    services.database.engine.dispose()


@pytest.fixture
def store(services):
    return services.contexts["acme"].service.store


def painted(store):
    with store.reading() as session:
        return {wall.name: wall.painted for wall in session.query(Wall)}


def paint(transaction, name="north"):
    wall = transaction.session.get(Wall, name, with_for_update=True) or Wall(name=name, painted=0)
    wall.painted, wall.at = wall.painted + 1, utc_now()
    transaction.session.add(wall)


def events(services):
    with services.database.reading() as session:
        return [(row.kind, row.actor, row.data) for row in session.query(Event).where(Event.kind.like("acme.%"))]


@pytest.mark.costly
def test_a_value_is_kept_until_it_is_deleted(store):
    first = store.put("colour", {"red": [1, None]})

    found = store.get("colour")
    assert (found.key, found.value, found.version) == ("colour", {"red": [1, None]}, first)
    assert store.put("colour", "blue") != first
    assert ("blue", True, False, None) == (
        store.get("colour").value,
        store.delete("colour"),
        store.delete("colour"),
        store.get("colour"),
    )


@pytest.mark.costly
def test_a_value_is_changed_only_if_nobody_else_has_changed_it(store):
    version = store.put("colour", "red", if_version=0)
    store.put("colour", "blue", if_version=version)

    for act in (
        lambda: store.put("colour", "green", if_version=version),
        lambda: store.put("colour", "green", if_version=0),
        lambda: store.delete("colour", if_version=version),
        lambda: store.put("other", "green", if_version=version),
    ):
        with pytest.raises(StoreConflictError):
            act()
    assert "blue" == store.get("colour").value


def test_a_value_that_was_made_again_has_another_version(store):
    version = store.put("colour", "red")
    store.delete("colour")
    store.put("colour", "red")

    with pytest.raises(StoreConflictError):
        store.put("colour", "blue", if_version=version)


def test_of_many_writers_one_wins_each_round(store):
    won = []

    def compete():
        for _ in range(5):
            found = store.get("count")
            try:
                store.put("count", (found.value if found else 0) + 1, if_version=found.version if found else 0)
                won.append(1)
            except StoreConflictError:
                pass

    threads = [threading.Thread(target=compete) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == store.get("count").value > 0


def test_values_are_listed_by_prefix_page_by_page(store):
    for key in ("a/1", "a/2", "a/3", "a", "b/1", "A/1"):
        store.put(key, key)

    page = store.items("a/", limit=2)
    rest = store.items("a/", after=page[-1].key)

    assert (["a/1", "a/2"], ["a/3"]) == ([one.key for one in page], [one.key for one in rest])
    assert ["A/1", "a", "a/1", "a/2", "a/3", "b/1"] == [one.key for one in store.items()]


def test_plugins_do_not_see_each_others_values(store, services):
    other = services.contexts["other"].service.store
    store.put("colour", "red")
    other.put("colour", "blue")

    other.delete("colour")

    assert ("red", [], 1) == (store.get("colour").value, list(other.items()), len(store.items()))


def test_a_value_or_key_that_cannot_be_kept_is_refused(store):
    for key, value in (("", 1), ("k" * 201, 1), ("nan", float("nan")), ("set", {1})):
        with pytest.raises(ValueError, match=r"key|JSON"):
            store.put(key, value)
    assert [] == list(store.items())


def test_a_table_of_its_own_is_written_in_a_transaction(store):
    assert "done" == store.transaction(lambda transaction: paint(transaction) or "done")
    store.transaction(paint)

    assert {"north": 2} == painted(store)


def test_what_a_transaction_raises_rolls_it_back(store, services):
    def fail(transaction):
        paint(transaction)
        transaction.put("colour", "red")
        transaction.record_event("acme.painted")
        raise LookupError("no paint left")

    with pytest.raises(LookupError, match="paint"):
        store.transaction(fail)

    assert ({}, None, []) == (painted(store), store.get("colour"), events(services))


def test_transactions_that_meet_are_run_again(store):
    store.transaction(paint)
    threads = [threading.Thread(target=store.transaction, args=[paint]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {"north": 9} == painted(store)


def test_an_event_is_committed_with_its_fact(store, services):
    def work(transaction):
        paint(transaction)
        transaction.record_event("acme.painted", data={"colour": "red"})

    store.transaction(work)

    told = {"colour": "red", "sentence": "A wall was painted."}
    assert ({"north": 1}, [("acme.painted", "system:acme", told)]) == (painted(store), events(services))


def test_an_event_of_another_kind_or_with_other_data_is_refused(store, services):
    for kind, data in (("version.added", {}), ("acme.sold", {}), ("acme.painted", {"price": 1})):
        with pytest.raises(ValueError, match=r"kind|key"):
            store.transaction(lambda tx, kind=kind, data=data: tx.record_event(kind, data=data))
    with pytest.raises(ValueError, match="kind"):
        services.contexts["other"].service.store.transaction(lambda tx: tx.record_event("acme.painted"))
    assert [] == events(services)


class TestReadOnly:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"read_only": "true"}

    def test_nothing_is_kept(self, store):
        with pytest.raises(ReadOnlyError):
            store.put("colour", "red")
        assert store.get("colour") is None
