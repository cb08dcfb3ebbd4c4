"""Collections in /api/v1: create, list in pages, show, change and delete."""

import itertools
from unicodedata import normalize

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection
from frepo_core.domain.roles import Role

COLLECTIONS = "/api/v1/collections"
PATCH = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def create(root):
    return lambda name="dump.sql.gz", **more: root.post(COLLECTIONS, {"name": name, **more})


@pytest.fixture
def path(create):
    return f"{COLLECTIONS}/{create().json['id']}"


def patch(client, path, body, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.call("PATCH", path, json=body, headers=PATCH | named)


def names(answer):
    return [item["name"] for item in answer.json["items"]]


def test_a_new_collection_has_the_limits_of_the_service(create):
    answer = create(description="db7")

    assert (201, f"http://localhost:80{COLLECTIONS}/{answer.json['id']}") == (
        answer.status_int,
        answer.headers["Location"],
    )
    shown = answer.json
    assert "Z" == shown.pop("created_at")[-1]
    assert shown.pop("id") and "version.upload" in shown.pop("may")
    assert ("new", "Z", 12) == (shown.pop("state"), shown.pop("state_since")[-1], len(shown.pop("created_by")))
    assert shown == {
        "name": "dump.sql.gz",
        "description": "db7",
        "labels": [],
        "strategy": "delete_oldest_when_adding_new",
        "strategy_options": None,
        "storage": None,
        "mirror": None,
        "compact_group": None,
        "trash_keep": None,
        "hold": None,
        "limits": {"versions": 0, "version_size": 4_000_000_000, "total_size": 15_000_000_000},
        "guards": {
            "min_retention": "PT0S",
            "min_version_size": 0,
            "max_shrink_percent": 50,
            "max_growth_percent": 0,
            "max_decline_percent": 0,
            "max_unchanged": "PT0S",
            "expects_kind": True,
            "expects_change": False,
            "on_suspicious": "quarantine",
        },
        "expected_every": None,
        "locked": None,
        "grace": None,
        "due_at": None,
        "overdue_at": None,
        "last_version": None,
        "last_run": None,
        "newest_good": None,
        "size_bounds": {"median": None, "largest_median": None, "least": 0, "most": None},
        "versions": 0,
        "stored_size": 0,
        "trash_size": 0,
        "pinned_versions": 0,
        "quarantined_versions": 0,
        "unchanged_nights": 0,
        "compressed_by_sender": None,
        "pending_versions": 0,
        **dict.fromkeys(("restore_tested_at", "restore_tried_at", "restore_outcome")),
        "state_reason": "",
        "problems": [],
        "states": ["new"],
        "arrived_at": None,
    }


def test_a_collection_says_which_size_its_guards_allow_and_what_they_compare_it_with(root, path):
    patch(root, path, {"guards": {"max_growth_percent": 100, "expects_kind": False}})
    shown = []
    for size in (100, 90, 80):
        root.push(path.rpartition("/")[2], b"x" * size)
        shown.append(root.get(path).json["size_bounds"])

    assert shown == [
        {"median": None, "largest_median": None, "least": 50, "most": 200},
        {"median": None, "largest_median": None, "least": 45, "most": 180},
        {"median": 90, "largest_median": 90, "least": 45, "most": 180},
    ]
    assert shown[-1] == root.get(COLLECTIONS).json["items"][0]["size_bounds"]
    for size, is_suspicious in ((181, True), (45, False), (44, True)):  # each good one may change the median
        answer = root.call("PUT", f"{path}/versions", body=b"y" * size)
        assert (size, is_suspicious) == (size, answer.json["suspicious"])


def test_a_collection_shows_its_newest_version(root, path):
    for content in (b"one", b"three"):
        root.push(path.rpartition("/")[2], content)

    shown = root.get(path).json

    assert (2, 8, 2, 5, False) == (
        shown["versions"],
        shown["stored_size"],
        shown["last_version"]["number"],
        shown["last_version"]["size"],
        shown["last_version"]["suspicious"],
    )


def test_a_patch_changes_only_what_it_names(root, path):
    before = root.get(path).json

    answer = patch(root, path, {"limits": {"versions": 5}, "guards": {"min_retention": "P1DT12H"}, "description": "x"})

    assert 200 == answer.status_int
    after = answer.json
    assert after.pop("next_upload") == {"evicts": [], "refused": None}
    assert after == before | {
        "description": "x",
        "limits": before["limits"] | {"versions": 5},
        "guards": before["guards"] | {"min_retention": "P1DT12H"},
    }
    assert after == root.get(path).json


def test_what_is_not_whole_or_empty_is_refused(root, path):
    for body in [{"name": None}, {"limits": None}, {"limits": {"versions": None}}]:
        assert 400 == patch(root, path, body).status_int

    for number in [5.5, "5", True, 2.0**63]:
        answer = patch(root, path, {"limits": {"versions": number}})
        assert (400, "limits.versions") == (answer.status_int, answer.json["errors"][0]["field"]), number

    answer = patch(root, path, {"limits": {"versions": 5.0}, "guards": {"max_shrink_percent": 20.0}})
    assert (200, "5", "20") == (
        answer.status_int,
        repr(answer.json["limits"]["versions"]),
        repr(answer.json["guards"]["max_shrink_percent"]),
    )


# JSON Schema: 5.0 is an integer.


def test_wrong_names_and_strategies_are_refused_as_they_were_sent(root, path):
    for name in ["filename", "maxBackupsCount"]:
        wrong = root.post(COLLECTIONS, {"name": "dump.sql.gz", name: "x"}).json["errors"]
        assert [name] == [one["field"] for one in wrong]

    answer = patch(root, path, {"strategy": "x"})
    assert "strategy" == answer.json["errors"][0]["field"]
    assert "delete_oldest_when_adding_new" in answer.json["errors"][0]["message"]


def test_the_etag_follows_edits_and_not_versions(root, path):
    first = root.get(path).headers["ETag"]
    root.push(path.rpartition("/")[2], b"one")

    assert first == root.get(path).headers["ETag"]
    assert first != patch(root, path, {"description": "x"}).headers["ETag"]


@pytest.mark.parametrize(
    "change",
    [
        lambda root, path, tag: patch(root, path, {"description": "y"}, If_Match=tag),
        lambda root, path, tag: root.delete(path, headers={"If-Match": tag}),
    ],
)
def test_a_stale_etag_prevents_a_change(root, path, change):
    stale = root.get(path).headers["ETag"]
    patch(root, path, {"description": "x"})

    answer = change(root, path, stale)

    assert (412, "application/problem+json") == (answer.status_int, answer.headers["Content-Type"])
    assert "x" == root.get(path).json["description"]


def test_a_taken_id_is_a_409_that_names_the_field(root, path):
    answer = root.post(COLLECTIONS, {"name": "b.gz", "id": path.rpartition("/")[2]})

    assert (409, ["id"]) == (answer.status_int, [wrong["field"] for wrong in answer.json["errors"]])
    assert "b.gz" != root.get(path).json["name"]


def test_a_current_etag_allows_a_change(root, path):
    for tag in [None, "*"]:
        tag = tag or root.get(path).headers["ETag"]

        assert 200 == patch(root, path, {"description": "x"}, If_Match=tag).status_int
        assert 412 == patch(root, path, {"description": "y"}, If_Match='"x"').status_int, tag


def test_deleting_an_empty_collection(root, path):
    answer = root.delete(path)

    assert (204, b"") == (answer.status_int, answer.body)
    assert 404 == root.get(path).status_int


def test_infinite_limits_and_ids_need_their_roles(holder):
    creator = holder(Role.CREATE_COLLECTIONS)

    for more in ({"limits": {"versions": 0}}, {"id": "52f29b69-9ff7-4d10-8d9c-1c9b7a0c7a52"}):
        assert 403 == creator.post(COLLECTIONS, {"name": "a", **more}).status_int


def test_a_token_lists_what_it_may_see(create, holder):
    create("hidden")
    lister = holder(Role.LIST_COLLECTIONS, Role.CREATE_COLLECTIONS)
    lister.post(COLLECTIONS, {"name": "own"})

    assert ["own"] == names(lister.get(COLLECTIONS))


def test_a_token_without_the_role_for_lists_sees_the_collections_that_list_it(create, holder, root):
    create("hidden")
    own = create("own").json["id"]
    uploader = holder(Role.UPLOAD_VERSIONS, Role.VIEW_ALL_COLLECTIONS)
    root.put(f"{COLLECTIONS}/{own}/access/{uploader.get('/api/v1').json['token']['fingerprint']}", {})

    assert ["own"] == names(uploader.get(COLLECTIONS))


def test_filters(create, root):
    create("a.sql", description="The Ledger")
    create("b.sql", strategy="alert_when_backup_limit_reached")

    assert ["a.sql"] == names(root.get(COLLECTIONS, {"q": "ledger"}))
    assert ["b.sql"] == names(root.get(COLLECTIONS, {"strategy": "alert_when_backup_limit_reached"}))
    assert [] == names(root.get(COLLECTIONS, {"q": "%"}))


@pytest.mark.costly
@pytest.mark.databases
def test_a_search_finds_names_descriptions_and_ids_in_any_case(create, root):
    first = create("Shop_1.sql", description="The Ledger")
    create("żółw.sql", labels=["żółw", 'a "b"'])

    found = {
        text: names(root.get(COLLECTIONS, {"q": text})) for text in ("sHOP_", "LEDGER", first.json["id"][3:].upper())
    }
    assert {"Shop_1.sql"} == {name for found_names in found.values() for name in found_names} and all(found.values())
    assert ["żółw.sql"] == names(root.get(COLLECTIONS, {"q": "żółw.SQL".lower()}))
    assert [["żółw.sql"]] * 2 == [names(root.get(COLLECTIONS, {"label": label})) for label in ("żółw", 'a "b"')]
    assert [] == names(root.get(COLLECTIONS, {"q": "Shop%"})) + names(root.get(COLLECTIONS, {"label": "b"}))


@pytest.mark.databases
def test_a_list_has_only_the_keys_that_are_asked_for(create, root):
    for name in ("one", "two"):
        made = create(name=name).json["id"]
        root.call("PUT", f"{COLLECTIONS}/{made}/versions", body=name.encode())
    whole = root.get(COLLECTIONS).json["items"]
    fields = "state,last_version,newest_good,size_bounds,trash_size"

    lean = root.get(COLLECTIONS, {"fields": fields, "limit": 1}).json
    second = root.get(COLLECTIONS, {"fields": "versions", "limit": 1, "cursor": lean["next"]}).json

    assert [{name: whole[0][name] for name in ("id", "name", *fields.split(","))}] == lean["items"]
    assert [{name: whole[1][name] for name in ("id", "name", "versions")}] == second["items"]
    refused = root.get(COLLECTIONS, {"fields": "state,password"})
    assert (400, "fields") == (refused.status_int, refused.json["errors"][0]["field"])


def test_a_list_finds_what_was_not_restore_tested_for_a_time(create, root, services):
    ids = {name: create(name=name).json["id"] for name in ("tested", "never", "empty")}
    for name in ("tested", "never"):
        root.call("PUT", f"{COLLECTIONS}/{ids[name]}/versions", body=name.encode())
    of_tested = update(Collection).where(Collection.id == ids["tested"])
    services.database.execute(of_tested.values(restore_tested_at=utc_now()))

    def untested(time):
        return [one["name"] for one in root.get(COLLECTIONS, {"restore_untested_for": time}).json["items"]]

    assert (["never"], ["never", "tested"]) == (untested("P1D"), untested("PT0S"))


def test_labels_are_a_filter(create, root):
    for name, labels in {"a": ["db", "Warsaw"], "b": ["db", 'żółw "x" \\ %'], "c": ["dbx", "warsaw"], "d": []}.items():
        create(name, labels=labels)

    found = {
        wanted: names(root.get(COLLECTIONS, {"label": list(wanted)}))
        for wanted in [("db",), ("db", "Warsaw"), ("warsaw",), ('żółw "x" \\ %',), ("%",), ('", "',)]
    }

    assert [["a", "b"], ["a"], ["c"], ["b"], [], []] == list(found.values())


def pages(client, **query):
    """Return the items of all pages."""
    found, cursor = [], ""
    while cursor is not None:
        answer = client.get(COLLECTIONS, {**query, "cursor": cursor})
        found.append(names(answer))
        cursor = answer.json["next"]
    return found


def every(pages):
    return list(itertools.chain.from_iterable(pages))


@pytest.mark.costly
@pytest.mark.databases
@pytest.mark.parametrize("sort", ["name", "created_at", "stored_size"])
def test_pages_have_each_collection_once_in_both_directions(create, root, sort):
    # Three of the same size, and two of the same name.
    for number, name in enumerate(["a", "b", "B", "b", "ä"]):
        made = create(name).json
        if number % 2:
            root.push(made["id"], b"x" * number)

    rising, falling = (pages(root, sort=f"{sign}{sort}", limit=2) for sign in ("", "-"))

    assert [2, 2, 1] == [len(page) for page in rising]
    assert sorted(["a", "b", "B", "b", "ä"]) == sorted(every(rising))
    assert every(rising) == every(falling)[::-1]


def test_a_page_is_stable_while_collections_are_added(create, root):
    for name in "bdf":
        create(name)
    first = root.get(COLLECTIONS, {"limit": 2}).json
    create("a")
    create("e")

    assert ["e", "f"] == names(root.get(COLLECTIONS, {"cursor": first["next"]}))


def test_a_cursor_that_the_list_has_not_returned_is_refused(root, create):
    for cursor in ["x", "W10", "WyJuYW1lIl0", "WyJuYW1lIiwxLDJd", "é", "W1" * 500]:
        answer = root.get(COLLECTIONS, {"cursor": cursor})
        assert (400, "cursor") == (answer.status_int, answer.json["errors"][0]["field"]), cursor

    for name in "ab":
        create(name)
    cursor = root.get(COLLECTIONS, {"limit": 1}).json["next"]
    assert 400 == root.get(COLLECTIONS, {"cursor": cursor, "sort": "-name"}).status_int


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("wanted", ["NFC", "NFD"])
def test_a_search_finds_each_normal_form_of_a_text(root, stored, wanted):
    name, text = (normalize(form, "żółw Ménage") for form in (stored, wanted))
    made = root.post("/api/v1/collections", {"name": f"{name}.sql", "description": f"of {name}"}).json["id"]

    assert [made] == [one["id"] for one in root.get("/api/v1/collections", {"q": text}).json["items"]]
    found = root.get("/repository/collection", {"searchQuery": text}).json["elements"]
    assert [made] == [one["id"] for one in found]


def test_a_collection_names_a_group_with_which_it_is_compacted(root):
    made = root.post(COLLECTIONS, {"name": "a", "compact_group": "hosts"}).json
    path = f"{COLLECTIONS}/{made['id']}"

    assert "hosts" == made["compact_group"] == root.get(path).json["compact_group"]
    assert patch(root, path, {"compact_group": None}).json["compact_group"] is None
    for refused in (
        patch(root, path, {"compact_group": "a group"}),
        root.post(COLLECTIONS, {"name": "a", "compact_group": "-"}),
    ):
        assert 400 == refused.status_int
        [error] = refused.json["errors"]
        assert "compact_group" == error["field"]
        assert error["message"].startswith("A group is a name of at most 64 letters, digits")
