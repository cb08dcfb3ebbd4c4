"""Versions in /api/v1: pins, notes and quarantine, and the safe defaults of collections."""

import pytest

from frepo_core.domain.roles import Role
from support.client import COLLECTIONS as FIRST_API

COLLECTIONS = "/api/v1/collections"


@pytest.fixture
def quarantining(root):
    """A collection of /api/v1 with two good versions and one in quarantine; return its path."""
    made = root.post(COLLECTIONS, {"name": "dump.sql", "guards": {"min_version_size": 4}}).json
    for content in (b"good", b"better", b"bad"):
        root.push(made["id"], content)
    return f"{COLLECTIONS}/{made['id']}"


@pytest.fixture
def patch(root):
    def patch(path, caller=root, headers=(), **values):
        return caller.call("PATCH", path, json=values, headers=headers)

    return patch


def test_new_collections_quarantine_what_shrank_by_half(root):
    made = root.post(COLLECTIONS, {"name": "dump.sql"}).json
    root.push(made["id"], b"x" * 10)

    assert {
        "min_retention": "PT0S",
        "min_version_size": 0,
        "max_shrink_percent": 50,
        "max_growth_percent": 0,
        "max_decline_percent": 0,
        "max_unchanged": "PT0S",
        "expects_kind": True,
        "expects_change": False,
        "on_suspicious": "quarantine",
    } == (made["guards"])
    for content, is_quarantined in ((b"12345", False), (b"12", True)):
        answer = root.call("PUT", f"{COLLECTIONS}/{made['id']}/versions", body=content).json
        assert (is_quarantined, is_quarantined) == (answer["quarantined"], answer["suspicious"])


def test_the_defaults_of_the_first_api_stay(root, collection):
    guards = root.get(f"{COLLECTIONS}/{collection}").json["guards"]

    assert {
        "min_retention": "PT0S",
        "min_version_size": 0,
        "max_shrink_percent": 0,
        "max_growth_percent": 0,
        "max_decline_percent": 0,
        "max_unchanged": "PT0S",
        "expects_kind": False,
        "expects_change": False,
        "on_suspicious": "refuse",
    } == guards


def test_the_guards_about_contents_are_edited(patch, collection):
    path = f"{COLLECTIONS}/{collection}"
    wanted = {"max_growth_percent": 300, "expects_kind": True, "expects_change": True}
    wanted |= {"max_decline_percent": 20, "max_unchanged": "P7D"}

    assert wanted.items() <= patch(path, guards=wanted).json["guards"].items()
    assert {**wanted, "expects_kind": False}.items() <= patch(path, guards={"expects_kind": False}).json[
        "guards"
    ].items()
    for wrong in (
        {"expects_kind": None},
        {"expects_change": "yes"},
        {"max_growth_percent": -1},
        {"max_decline_percent": 101},
    ):
        assert 400 == patch(path, guards=wrong).status_int, wrong


def test_a_released_version_names_the_token_for_those_who_may_see_it(services, root, holder, patch, quarantining):
    editor = holder(Role.ADMINISTRATOR, name="phone of the admin")
    reader = holder(Role.LIST_VERSIONS)
    other = root.post(COLLECTIONS, {"name": "another.sql"}).json["id"]
    for path, client in ((quarantining, reader), (f"{COLLECTIONS}/{other}", editor)):
        root.call("PUT", f"{path}/access/{services.tokens.fingerprint(client.token)}")

    released = patch(f"{quarantining}/versions/v3", editor, quarantined=False).json
    names = [
        client.get(f"{quarantining}/versions/{selector}").json["released_by_name"]
        for client, selector in ((root, "v3"), (reader, "v3"), (root, "v2"))
    ]
    listed = root.get(f"{quarantining}/versions").json["items"]

    assert (services.tokens.fingerprint(editor.token), "phone of the admin") == (
        released["released_by"],
        released["released_by_name"],
    )
    assert ["phone of the admin", None, None] == names
    assert ["phone of the admin", None, None] == [one["released_by_name"] for one in listed]


@pytest.mark.costly
@pytest.mark.databases
def test_versions_and_collections_are_found_by_the_reason_of_their_quarantine(root, quarantining):
    other = root.post(COLLECTIONS, {"name": "shrunk.bin"}).json["id"]
    for content in (b"x" * 100, b"x"):
        root.push(other, content)

    found = {
        reason: [one["name"] for one in root.get(f"{COLLECTIONS}?reason={reason}").json["items"]]
        for reason in ("size", "shrink", "size&reason=shrink", "check", "overtaken")
    }

    assert found == {
        "size": ["dump.sql"],
        "shrink": ["shrunk.bin"],
        "size&reason=shrink": ["dump.sql", "shrunk.bin"],
        "check": [],
        "overtaken": [],
    }
    versions = root.get(f"{quarantining}/versions?reason=size").json["items"]
    assert [(3, "size")] == [(one["number"], one["reason"]) for one in versions]
    assert [] == root.get(f"{quarantining}/versions?reason=shrink").json["items"]
    assert root.get(f"{quarantining}/versions/v1").json["reason"] is None
    assert 400 == root.get(f"{quarantining}/versions?reason=other").status_int


def test_what_follows_a_suspicious_version_is_a_choice(root, patch, collection):
    for sent, shown, first_api in [
        ("mark", "mark", "keep"),
        ("keep", "mark", "keep"),
        *[(it, it, it) for it in ("refuse", "quarantine")],
    ]:
        answer = patch(f"{COLLECTIONS}/{collection}", guards={"on_suspicious": sent})

        assert shown == answer.json["guards"]["on_suspicious"]
        assert first_api == root.get(f"{FIRST_API}/{collection}").json["collection"]["on_suspicious"]
        assert 400 == patch(f"{COLLECTIONS}/{collection}", guards={"on_suspicious": "drop"}).status_int, sent


def test_a_version_shows_what_was_edited(root, patch, quarantining):
    path = f"{quarantining}/versions/v1"
    before = root.get(path).json
    assert (False, False, None, None, "") == tuple(
        before[name] for name in ("pinned", "quarantined", "quarantined_at", "quarantine_reason", "note")
    )

    answer = patch(path, pinned=True, note="before the move")

    assert before | {"pinned": True, "note": "before the move"} == root.get(path).json
    assert answer.json == {name: value for name, value in root.get(path).json.items() if name != "same_content_in"}
    shown = root.get(quarantining).json
    assert (2, 1, 1, 2) == tuple(
        shown["last_version"]["number"] if name == "last" else shown[name]
        for name in ("versions", "pinned_versions", "quarantined_versions", "last")
    )


def test_a_release_makes_a_normal_version(root, patch, quarantining):
    path = f"{quarantining}/versions/v3"
    found = root.get(path).json
    assert (True, True, "new_version_is_smaller_than_the_minimum") == (
        found["suspicious"],
        found["quarantined"],
        found["quarantine_reason"],
    )
    assert found["created_at"] == found["quarantined_at"]
    assert "suspicious" == root.get(quarantining).json["state"]

    answer = patch(path, quarantined=False)

    assert (200, False, False) == (answer.status_int, answer.json["suspicious"], answer.json["quarantined"])
    assert ("ok", 3) == ((shown := root.get(quarantining).json)["state"], shown["last_version"]["number"])


def test_selectors_and_downloads(root, quarantining):
    selected = [root.get(f"{quarantining}/versions/{name}").json["number"] for name in ("latest", "2099-01-01", "v3")]

    assert [2, 2, 3] == selected
    assert b"bad" == root.get(f"{quarantining}/versions/v3/content").body
    assert [3, 2, 1] == [one["number"] for one in root.get(f"{quarantining}/versions").json["items"]]


def test_a_collection_with_quarantined_versions_only_is_not_deleted(root):
    made = root.post(COLLECTIONS, {"name": "dump.sql", "guards": {"min_version_size": 9}}).json
    root.push(made["id"], b"small")

    assert (409, 4005) == ((answer := root.delete(f"{COLLECTIONS}/{made['id']}")).status_int, answer.json["code"])
    assert 204 == root.delete(f"{COLLECTIONS}/{made['id']}/versions/v1").status_int
    assert 204 == root.delete(f"{COLLECTIONS}/{made['id']}").status_int


def test_a_pinned_version_is_not_deleted(root, patch, quarantining):
    path = f"{quarantining}/versions/v1"
    patch(path, pinned=True)
    answer = root.delete(path)

    assert (409, 4018) == (answer.status_int, answer.json["code"])
    assert "A pinned version is not deleted: unpin it first" == answer.json["detail"]
    patch(path, pinned=False)
    assert 204 == root.delete(path).status_int


def test_a_pin_is_refused(root, patch, quarantining):
    patch(quarantining, limits={"versions": 2})
    patch(f"{quarantining}/versions/v1", pinned=True)

    for number, code in (("v2", 4019), ("v3", 4020)):
        answer = patch(f"{quarantining}/versions/{number}", pinned=True)
        assert (409, code, ["pinned"]) == (
            answer.status_int,
            answer.json["code"],
            [one["field"] for one in answer.json["errors"]],
        )
    answer = patch(quarantining, limits={"versions": 1})
    assert (409, 4019) == (answer.status_int, answer.json["code"])


def test_wrong_values_are_refused(patch, quarantining):
    for values in [
        {"quarantined": True},
        {"pinned": None},
        {"pinned": "yes"},
        {"note": "x" * 1001},
        {"note": None},
        {"number": 3},
    ]:
        answer = patch(f"{quarantining}/versions/v1", **values)

        assert (400, list(values)) == (answer.status_int, [one["field"] for one in answer.json["errors"]])


def test_an_edit_may_depend_on_the_etag(root, patch, quarantining):
    path = f"{quarantining}/versions/v1"
    tag = root.get(path).headers["ETag"]
    first = patch(path, headers={"If-Match": tag}, note="one")

    assert (200, 412) == (first.status_int, patch(path, headers={"If-Match": tag}, note="two").status_int)
    assert 200 == patch(path, headers={"If-Match": first.headers["ETag"]}, note="two").status_int


@pytest.mark.databases
def test_a_deletion_may_depend_on_the_etag(root, patch, quarantining):
    path = f"{quarantining}/versions/v1"
    stale = root.get(path).headers["ETag"]
    fresh = patch(path, note="one").headers["ETag"]

    assert [412, 400] == [root.delete(path, headers={"If-Match": tag}).status_int for tag in (stale, "")]
    assert "one" == root.get(path).json["note"]
    assert [204, 404] == [root.delete(path, headers={"If-Match": fresh}).status_int for _ in range(2)]
    assert 204 == root.delete(f"{quarantining}/versions/v2").status_int


def test_roles(root, patch, member, holder, collection):
    root.push(collection, b"one")
    path = f"{COLLECTIONS}/{collection}/versions/v1"
    others = [role for role in Role if role not in {Role.PIN_VERSIONS, Role.ADMINISTRATOR}]

    assert 200 == patch(path, member(Role.PIN_VERSIONS), pinned=True).status_int
    assert 403 == patch(path, holder(Role.PIN_VERSIONS), pinned=True).status_int
    assert 200 == patch(path, holder(Role.PIN_VERSIONS, Role.MODIFY_ANY_COLLECTION), note="a").status_int
    assert 403 == patch(path, member(*others), pinned=False).status_int


def test_the_first_api_lists_and_fetches_them(root, patch, quarantining):
    collection = quarantining.rpartition("/")[2]
    patch(f"{quarantining}/versions/v1", pinned=True)

    assert ["1", "2", "3"] == sorted(root.versions(collection))
    refused = root.delete(f"{FIRST_API}/{collection}/backup/v1")
    assert (400, 4018, {"version": "version_is_pinned"}) == (
        refused.status_int,
        refused.json["error_code"],
        refused.json["errors"],
    )
    assert 4005 == root.delete(f"{FIRST_API}/{collection}").json["error_code"]
    assert 302 == root.get(f"{FIRST_API}/{collection}/backup/v3").status_int
    assert "-v2" in root.get(f"{FIRST_API}/{collection}/backup/latest").headers["Location"]
    assert 200 == root.delete(f"{FIRST_API}/{collection}/backup/v3").status_int


def test_a_pin_has_an_end_and_a_reason(root, patch, collection):
    root.push(collection, b"1")
    path = f"{COLLECTIONS}/{collection}/versions/v1"
    pinned = patch(path, pinned=True, pinned_until="2099-12-31", pin_reason="the law").json
    assert (True, "2099-12-31T00:00:00Z", "the law") == (
        pinned["pinned"],
        pinned["pinned_until"],
        pinned["pin_reason"],
    )
    listed = root.get("/api/v1/pins").json
    assert [(collection, 1, "2099-12-31T00:00:00Z", "the law")] == [
        (one["collection"], one["number"], one["pinned_until"], one["pin_reason"]) for one in listed["items"]
    ]
    assert patch(path, pinned_until=None).json["pinned_until"] is None
    refused = patch(path, pinned_until="2001-01-01")
    assert (400, True) == (refused.status_int, "past" in refused.text)

    unpinned = patch(path, pinned=False).json
    assert (False, None, "") == (unpinned["pinned"], unpinned["pinned_until"], unpinned["pin_reason"])
    assert (400, []) == (patch(path, pin_reason="why").status_int, root.get("/api/v1/pins").json["items"])


def test_the_list_of_pins_has_the_collections_whose_versions_the_token_lists(services, root, holder, patch):
    reader, blind = holder(Role.LIST_VERSIONS), holder(Role.UPLOAD_VERSIONS)
    made = [root.post(COLLECTIONS, {"name": "dump.sql"}).json["id"] for _ in range(3)]
    for one in made:
        root.push(one, b"good")
        assert 200 == patch(f"{COLLECTIONS}/{one}/versions/v1", pinned=True).status_int
    for client in (reader, blind):
        root.call("PUT", f"{COLLECTIONS}/{made[1]}/access/{services.tokens.fingerprint(client.token)}")

    assert [made[1]] == [one["collection"] for one in reader.get("/api/v1/pins").json["items"]]
    assert 403 == blind.get("/api/v1/pins").status_int
    pages = [root.get("/api/v1/pins?limit=2").json]
    pages.append(root.get(f"/api/v1/pins?limit=2&cursor={pages[0]['next']}").json)
    assert sorted(made) == [one["collection"] for page in pages for one in page["items"]]


def test_a_collection_is_locked(root, holder, services, patch, collection):
    root.push(collection, b"1")
    path = f"{COLLECTIONS}/{collection}"
    assert root.get(path).json["locked"] is None
    editor = holder(Role.MODIFY_COLLECTIONS, Role.LIST_VERSIONS)
    root.call("PUT", f"{path}/access/{services.tokens.fingerprint(editor.token)}")
    assert 403 == patch(path, editor, locked="P30D").status_int
    locked = patch(path, locked="P30D")
    assert (200, "P30D") == (locked.status_int, locked.json["locked"])
    version = root.get(f"{path}/versions/v1").json
    assert version["created_at"] < version["locked_until"]

    refused = root.call("DELETE", f"{path}/versions/v1")
    assert (409, 4026) == (refused.status_int, refused.json["code"])
    assert version["locked_until"][:10] in refused.json["detail"]
    for shorter in ("P29D", None):
        answer = patch(path, locked=shorter)
        assert (409, 4027) == (answer.status_int, answer.json["code"])
    for wrong in ("PT0S", "P40000D", 30):
        assert 400 == patch(path, locked=wrong).status_int, wrong
    preview = root.post(f"{path}/retention/preview", {"locked": "P60D", "limits": {"versions": 1}}).json
    assert ["locked"] == [one["protection"] for one in preview["versions"]]
    assert [4026] == [one["code"] for one in preview["refused"]]


def test_a_new_collection_is_locked_from_its_first_version(root):
    made = root.post(COLLECTIONS, {"name": "dump.sql", "locked": "P30D", "limits": {"versions": 1}}).json
    root.push(made["id"], b"first")

    refused = root.call("PUT", f"{COLLECTIONS}/{made['id']}/versions", body=b"second")
    assert (409, 4026) == (refused.status_int, refused.json["code"])
    assert "full" == root.get(f"{COLLECTIONS}/{made['id']}").json["state"]
