"""Pages of /api/v1 on each database: ties, microseconds, nulls, deletions between two pages, and forged cursors."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, text, update

from frepo_core.db.models import Collection, Event, Token

pytestmark = pytest.mark.databases

V1 = "/api/v1"
FILES, COLLECTIONS, TOKENS, EVENTS = (f"{V1}/{name}" for name in ("files", "collections", "tokens", "events"))
START = datetime(2026, 3, 29, 0, 59, 59, 999_998, tzinfo=UTC)
# A tie, two neighbours a microsecond apart on both sides of a full second, and no time.
TIMES = (*(START + timedelta(microseconds=late) for late in (0, 1, 1, 2, 3)), None)
KEYS = {"files": "name", "events": "position", "tokens": "fingerprint", "versions": "number"}
SORTS = {
    COLLECTIONS: ("name", "created_at", "stored_size", "last_version_at", "state"),
    TOKENS: ("name", "created_at", "last_used_at", "expires_at"),
}


@pytest.fixture
def filled(root, services):
    """Six of each; return the path of a collection with six versions."""
    made = [root.post(COLLECTIONS, {"name": f"dump-{number // 2}.sql"}).json["id"] for number in range(6)]
    for number in range(6):
        root.call("POST", FILES, {"name": "a.txt"}, body=b"%d" % number)
        root.push(made[number // 3], b"version %d" % number)
        root.push(made[5], b"other %d" % number)
        root.post(
            TOKENS, {"name": f"host-{number // 2}", "roles": ["upload.all"], "expires_at": "2030-01-01T00:00:00Z"}
        )
    with services.database.engine.begin() as connection:
        for one, time in zip(made, TIMES, strict=True):
            changes = {"arrived_at": time, "created_at": time or START, "stored_size": 1000}
            connection.execute(update(Collection).where(Collection.id == one).values(changes))
        keys = connection.scalars(select(Token.key).where(Token.name.startswith("host-"))).all()
        for key, time in zip(keys, TIMES, strict=True):
            changes = {"last_used_at": time, "expires_at": time and time + timedelta(days=2000)}
            connection.execute(update(Token).where(Token.key == key).values(changes | {"created_at": time or START}))
        connection.execute(text("UPDATE event SET position = id WHERE position IS NULL"))
    return f"{COLLECTIONS}/{made[5]}/versions"


def lists_of(versions):
    """Return path and parameters of each list in each order."""
    for path in (FILES, EVENTS, versions, COLLECTIONS, TOKENS):
        for sort in SORTS.get(path, ("",)):
            yield from ((path, {"sort": order}) for order in (sort, f"-{sort}") if sort)
            yield from () if sort else ((path, {}),)
    yield EVENTS, {"kind": ["version.*", "file.added"]}
    yield EVENTS, {"collection": versions.split("/")[-2]}


def read(root, path, query, *, limit, before_next=lambda found: None):
    """Return the keys of all items, page by page."""
    found, cursor = [], ""
    while cursor is not None:
        answer = root.get(path, query | {"limit": limit} | ({"cursor": cursor} if cursor else {}))
        assert 200 == answer.status_int, answer.json
        found += [item[KEYS.get(path.rpartition("/")[2], "id")] for item in answer.json["items"]]
        cursor = answer.json["next"]
        before_next(found)
    return found


@pytest.mark.slow
def test_pages_have_each_item_once_in_the_order_of_the_whole_list(root, filled):
    lists = list(lists_of(filled))

    whole = [read(root, path, query, limit=500) for path, query in lists]
    paged = [read(root, path, query, limit=20 if path == EVENTS else 2) for path, query in lists]

    assert min(map(len, whole)) >= 6
    assert [len(set(keys)) for keys in whole] == [len(keys) for keys in whole]
    assert dict(zip(map(str, lists), whole, strict=True)) == dict(zip(map(str, lists), paged, strict=True))


@pytest.fixture
def remove(root, services):
    """Delete an item of a list."""

    def remove(path, key):
        if path == EVENTS:
            with services.database.engine.begin() as connection:
                connection.execute(delete(Event).where(Event.position == key))
            return
        selector = f"v{key}" if path.endswith("/versions") else key
        more = "?versions=trash" if path == COLLECTIONS else ""
        assert 204 == root.delete(f"{path}/{selector}{more}").status_int

    return remove


def test_a_deletion_between_two_pages_skips_and_repeats_nothing(root, filled, remove):
    """The item at the end of the first page is deleted, whose values are the cursor, and one of the next page."""
    lists = {FILES: {}, EVENTS: {}, filled: {}, TOKENS: {"sort": "last_used_at", "q": "host-"}}
    for path, query in (lists | {COLLECTIONS: {"sort": "-created_at"}}).items():
        whole = read(root, path, query, limit=500)

        def remove_two(found, path=path, whole=whole):
            if len(found) == 2:
                remove(path, whole[1])
                remove(path, whole[2])

        assert [*whole[:2], *whole[3:]] == read(root, path, query, limit=2, before_next=remove_two), path


NAMES = ("a\0b", "\ud800", 1, None, True, [], {})
FORGED_TIMES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-23T00:00:00", "", 1, None)
NUMBERS = (2**63, -(2**64), 1.5, True, "1", None)


def forge(path, query, *values):
    text = json.dumps([query.get("sort", ""), *values])
    return path, query | {"cursor": base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")}


@pytest.mark.costly
def test_a_forged_cursor_is_refused(root, collection):
    versions = f"{COLLECTIONS}/{collection}"
    forged = [
        *(forge(COLLECTIONS, {"sort": "name"}, "a", name) for name in NAMES),
        *(forge(TOKENS, {"sort": "name"}, name, "abc") for name in NAMES),
        *(forge(f"{V1}/aliases", {}, "database", name) for name in NAMES),
        *(forge(f"{versions}/checks", {}, 1, name) for name in NAMES),
        *(forge(COLLECTIONS, {"sort": "created_at"}, time, collection) for time in FORGED_TIMES),
        *(forge(TOKENS, {"sort": "-last_used_at"}, 0, time, "abc") for time in FORGED_TIMES),
        *(forge(f"{V1}/history", {}, time, 1) for time in FORGED_TIMES),
        *(forge(COLLECTIONS, {"sort": "stored_size"}, number, collection) for number in NUMBERS),
        *(forge(f"{versions}/versions", {}, number) for number in NUMBERS),
        *(forge(path, {}, number) for path in (EVENTS, FILES) for number in NUMBERS),
    ]

    answers = {str(one): root.get(*one) for one in forged}

    assert {} == {one: answer.status_int for one, answer in answers.items() if answer.status_int != 400}
    assert all(["cursor"] == [one["field"] for one in answer.json["errors"]] for answer in answers.values())


def test_each_time_is_a_filter(root, services):
    for since in ["0001-01-01", "0001-01-01T00:30:00Z", "9999-12-31"]:
        with services.database.engine.begin() as connection:
            connection.execute(text("UPDATE event SET position = id WHERE position IS NULL"))

        for path in (EVENTS, f"{EVENTS}.jsonl", f"{V1}/history"):
            assert 200 == root.get(path, {"since": since}).status_int
        assert 200 == root.get(TOKENS, {"unused_since": since}).status_int
        assert bool(root.get(EVENTS, {"since": since}).json["items"]) == (since < "2")
