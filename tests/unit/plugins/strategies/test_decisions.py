"""A strategy decides before the write transaction; a decision that is outdated then is made again."""

import threading
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest

from frepo_core import assemble
from frepo_core.db.models import Collection
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.content.ingest import Incoming

pytestmark = pytest.mark.databases


@pytest.fixture
def sender(services, admin):
    return services.tokens.identify(admin, address="", user_agent="")


@pytest.fixture
def senders(services, make_token):
    """A token for each upload: one that a later upload of the same token overtakes is put into quarantine."""
    tokens = [make_token(Role.ADMINISTRATOR) for _ in range(24)]
    return [services.tokens.identify(token, address="", user_agent="") for token in tokens]


@pytest.fixture
def collection(services):
    change = CollectionChange(limits={COUNT: 3}, filename="dump.sql", strategy="slow")
    return services.collections.create(change, by=None).id


@pytest.fixture
def push(services, sender, collection):
    def push(content, by=sender):
        record = services.collections.get(collection)
        return services.add_version.add(record, Incoming(stream=BytesIO(content)), by=by).version

    return push


@pytest.fixture
def numbers(services, collection):
    return lambda: [version.number for version in services.versions.list(collection)]


def lock_row(services, collection):
    """Lock and change the row of the collection, as another writer does."""

    def work(session):
        row = session.get(Collection, collection, with_for_update={"nowait": True})
        row.description = f"{row.description}."

    services.database.write(work)


def test_no_lock_is_held_while_a_strategy_decides(services, push, collection, strategy, numbers):
    for content in (b"one", b"two", b"three"):
        push(content)
    strategy.before = lambda: lock_row(services, collection)

    push(b"four")

    assert ([2, 3, 4], "..") == (numbers(), services.collections.get(collection).description)


def test_a_strategy_is_told_the_number_of_the_incoming_version(push, strategy):
    for content in (b"one", b"two", b"three"):
        push(content)

    assert [1, 2, 3] == sorted(set(strategy.numbers))


def test_a_decision_that_a_deletion_outdated_is_made_again(services, push, collection, strategy, numbers):
    versions = [push(content) for content in (b"one", b"two", b"three")]
    left = [lambda: None, lambda: services.versions.delete(collection, versions[0].id)]
    strategy.before = lambda: left.pop(0)() if left else None

    push(b"four")

    assert [2, 3, 4] == numbers()


@pytest.mark.parametrize("first", [0, 1])
def test_a_version_that_was_pinned_meanwhile_is_not_evicted(
    services, push, collection, strategy, numbers, sender, first
):
    versions = [push(content) for content in (b"one", b"two", b"three")]
    services.version_edits.edit(collection, versions[1].id, VersionChange(pinned=True), by=sender)

    def swap():
        for version, pinned in ((versions[1], False), (versions[0], True)):
            services.version_edits.edit(collection, version.id, VersionChange(pinned=pinned), by=sender)

    left = [*([lambda: None] * first), swap]
    strategy.before = lambda: left.pop(0)() if left else None

    push(b"four")

    assert [1, 3, 4] == numbers()


def test_uploads_at_once_are_all_accepted_and_leave_what_the_strategy_keeps(push, numbers, senders):
    start = threading.Barrier(8)

    def upload(number):
        start.wait()
        return push(f"dump {number}".encode(), senders[number]).number

    with ThreadPoolExecutor(8) as pool:
        given = sorted(pool.map(upload, range(8)))

    assert (list(range(1, 9)), [6, 7, 8]) == (given, numbers())


def test_uploads_of_two_processes_at_once_are_all_accepted(services, plugins, ini, numbers, senders, collection):
    other = assemble(ini, {}, plugins)

    def upload(number):
        one = (services, other)[number % 2]
        incoming = Incoming(stream=BytesIO(f"dump {number}".encode()))
        return one.add_version.add(one.collections.get(collection), incoming, by=senders[number]).version.number

    with ThreadPoolExecutor(8) as pool:
        given = sorted(pool.map(upload, range(24)))
    other.database.engine.dispose()

    assert (list(range(1, 25)), [22, 23, 24]) == (given, numbers())
