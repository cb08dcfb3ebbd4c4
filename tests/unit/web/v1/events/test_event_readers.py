"""Who sees which events: of files what /files shows, of tokens what /tokens shows, of jobs no output about others."""

import pytest
from sqlalchemy import event as sql

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.domain.roles import Role

EVENTS = "/api/v1/events"


@pytest.fixture
def reader(holder):
    return holder(Role.VIEW_EVENTS, Role.VIEW_LISTING)


@pytest.fixture
def read(number):
    def read(client, query=""):
        number()
        return client.get(f"{EVENTS}?{query}").json["items"]

    return read


def upload(client, name="a.txt", **options):
    answer = client.upload(f"content of {name}".encode(), name, **{"public": "true", **options})
    assert 200 == answer.status_int, answer.json
    return answer.json["filename"]


@pytest.mark.parametrize("options", [{"password": "word-5ecre7"}, {"tags[]": "private"}], ids=str)
@pytest.mark.parametrize("ending", ["", ".csv", ".jsonl"])
def test_the_name_of_a_masked_file_stays_masked(root, reader, number, options, ending):
    stored = upload(root, "a.txt", **options)
    number()
    text = reader.get(f"{EVENTS}{ending}?kind=file.*").text

    assert ("file.added" in text, "anonymous" in text) == (True, True)
    assert (stored in text, stored[:10] in text, "private" in text) == (False, False, False)


def test_a_file_that_is_listed_in_full_is_shown_in_full(root, reader, read):
    stored = upload(root, "a.txt")

    assert [stored] == [event["data"]["name"] for event in read(reader, "kind=file.*")]


def test_no_event_about_a_file_that_is_not_listed(root, reader, read):
    upload(root, "a.txt", public="false")

    assert ([], 1) == (read(reader, "kind=file.*"), len(read(root, "kind=file.*")))


def test_a_deleted_file_is_masked(root, reader, read):
    """Its tags and its password are not known any more."""
    stored = upload(root, "a.txt")
    root.call("DELETE", f"/repository/file/{stored}")

    assert ["anonymous", "anonymous"] == [event["data"]["name"] for event in read(reader, "kind=file.*")]
    assert [stored, stored] == [event["data"]["name"] for event in read(root, "kind=file.*")]


def test_without_the_right_to_list_files_all_are_masked(root, holder, read):
    upload(root, "a.txt")

    assert ["anonymous"] == [e["data"]["name"] for e in read(holder(Role.VIEW_EVENTS), "kind=file.*")]


def test_aliases_are_for_those_who_manage_them(root, holder, reader, read):
    stored = upload(root, "a.txt", password="word-5ecre7")
    root.call("PUT", "/api/v1/aliases/short", json={"file": stored})
    manager = holder(Role.VIEW_EVENTS, Role.MANAGE_ALIASES)

    assert [1, 1, 0] == [len(read(client, "kind=alias.*")) for client in (root, manager, reader)]


def test_no_event_about_a_token_that_tokens_hides(root, services, holder, create, read):
    reader, hidden, free = (
        holder(*roles) for roles in ((Role.VIEW_EVENTS, Role.LIST_TOKENS), [Role.UPLOAD_ALL], [Role.UPLOAD_ALL])
    )
    services.token_lists.allow(create(), services.tokens.key(hidden.token))
    reader_, hidden_, free_ = (services.tokens.fingerprint(one.token) for one in (reader, hidden, free))

    seen = {event["token"] for event in read(reader, "kind=token.*")}

    assert (True, True, False) == (reader_ in seen, free_ in seen, hidden_ in seen)
    assert {reader_, hidden_, free_} <= {event["token"] for event in read(root, "kind=token.*")}


def test_without_the_right_to_list_tokens_only_the_own_one(services, holder, read):
    reader = holder(Role.VIEW_EVENTS, Role.VIEW_ALL_COLLECTIONS)
    holder(Role.LIST_TOKENS)

    found = [event["token"] for event in read(reader, "kind=token.*")]

    assert [services.tokens.fingerprint(reader.token)] == found


def test_a_hidden_token_on_the_list_of_a_shown_collection_has_no_name(services, holder, create, read):
    """It was taken off the list, so /tokens does not show it any more."""
    reader, other = holder(Role.VIEW_EVENTS), holder(Role.UPLOAD_VERSIONS)
    shown, hidden = create(), create("hidden.sql")
    for collection, client in ((shown, reader), (shown, other), (hidden, other)):
        services.token_lists.allow(collection, services.tokens.key(client.token))
    services.token_lists.disallow(shown, services.tokens.key(other.token))

    found = read(reader, "kind=collection.access_revoked")

    assert [(shown, None)] == [(event["collection_id"], event["token"]) for event in found]


def test_a_hidden_actor_has_only_its_fingerprint(root, services, holder, create, read):
    reader, other = holder(Role.VIEW_EVENTS), holder(Role.UPLOAD_ALL)
    services.token_lists.allow(create("hidden.sql"), services.tokens.key(other.token))
    fingerprint = services.tokens.fingerprint(other.token)
    patch = {"Content-Type": "application/merge-patch+json"}
    root.call("PATCH", f"/api/v1/tokens/{fingerprint}", json={"name": "hidden host"}, headers=patch)
    upload(other, "a.txt")

    (event,) = read(reader, "kind=file.*")

    assert (fingerprint, None, None) == (event["actor"], event["actor_name"], event["address"])
    assert "hidden host" == read(root, "kind=file.*")[0]["actor_name"]


def test_pages_are_filled_although_most_events_are_hidden(root, reader, services, read):
    rows = [
        Event(position=number, at=utc_now(), kind="token.revoked", actor="console:root", token="0" * 12, data={})
        for number in range(1000, 1100)
    ]
    services.database.write(lambda session: session.add_all(rows))
    shown = Event(position=999, at=utc_now(), kind="job.recovered", actor="system:verify", data={})
    services.database.write(lambda session: session.add(shown))
    found, cursor, pages = [], "", 0
    while cursor is not None and pages < 10:
        page = reader.get(f"{EVENTS}?limit=25&cursor={cursor}").json
        found += [item["position"] for item in page["items"]]
        cursor, pages = page["next"], pages + 1

    assert (True, True) == (999 in found, pages <= 2)


def test_the_output_of_a_failed_job_is_for_those_who_see_all_collections(services, holder, root, read):
    data = {"job": "restore_tests", "error": "Collection 1234, version v3: it is broken"}
    row = Event(position=99, at=utc_now(), kind="job.failed", actor="system:restore_tests", data=data)
    services.database.write(lambda session: session.add(row))
    everything = holder(Role.VIEW_EVENTS, Role.VIEW_ALL_COLLECTIONS)

    texts = [read(client, "kind=job.*")[0]["data"]["error"] for client in (root, everything, holder(Role.VIEW_EVENTS))]

    assert [True, True, False] == ["1234" in text for text in texts]


def test_a_page_of_a_restricted_reader_costs_a_few_statements(services, holder, root, number):
    reader = holder(Role.VIEW_EVENTS, Role.VIEW_LISTING, Role.LIST_TOKENS)
    for name in "abcdefghij":
        upload(root, f"{name}.txt")
    number()
    statements = []
    listen = (services.database.engine, "before_cursor_execute", lambda *found: statements.append(found[2]))
    sql.listen(*listen)
    found = reader.get(f"{EVENTS}?limit=20&kind=file.*").json["items"]
    sql.remove(*listen)

    assert 10 == len(found)
    assert len([one for one in statements if one.startswith("SELECT")]) <= 8


def test_no_event_about_an_earlier_collection_of_the_same_id(root, holder, create, read):
    former = create("secret.sql")
    root.delete(f"/api/v1/collections/{former}")
    maker = holder(Role.VIEW_EVENTS, Role.CREATE_COLLECTIONS, Role.CHOOSE_COLLECTION_IDS)
    made = maker.post("/repository/collection", {"id": former, "filename": "own.sql"})
    assert 202 == made.status_int, made.json

    own = ["collection.access_granted", "collection.created"]
    for query in ("kind=collection.*", f"collection={former}"):
        assert own == sorted(event["kind"] for event in read(maker, query))
        assert "secret.sql" not in str(read(maker, query))
    assert 3 < len(read(root, f"collection={former}"))


def test_the_events_about_a_collection_that_was_restored(root, holder, create, read, services):
    collection, reader = create(), holder(Role.VIEW_EVENTS)
    services.token_lists.allow(collection, services.tokens.key(reader.token))
    root.delete(f"/api/v1/collections/{collection}")
    assert 201 == root.post(f"/api/v1/deleted-collections/{collection}/restore", {}).status_int

    assert "collection.created" in [event["kind"] for event in read(reader, f"collection={collection}")]
