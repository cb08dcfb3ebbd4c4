"""Aliases in the database: made, changed and deleted by API, and seen by downloads at once."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.features.aliases.feature import AliasServices

ALIASES = "/api/v1/aliases"


@pytest.fixture
def file(upload):
    return upload(b"content")


@pytest.fixture
def upload(app, admin):
    """Upload a content; return its stored name."""
    return lambda content: app.post(f"/repository/file/upload?fileName=a.txt&_token={admin}", content).json["filename"]


@pytest.fixture
def mapping(tmp_path):
    return tmp_path / "ids_mapping.yaml"


@pytest.fixture
def manager(holder):
    return holder(Role.MANAGE_ALIASES)


def put(client, alias, file, **headers):
    return client.call("PUT", f"{ALIASES}/{alias}", json={"file": file}, headers=headers)


@pytest.mark.databases
def test_an_alias_is_made_shown_changed_and_deleted(app, manager, file, upload):
    made = put(manager, "nice.txt", file)
    again = put(manager, "nice.txt", upload(b"other"))
    shown = manager.get(f"{ALIASES}/nice.txt")
    downloaded = app.get("/repository/file/nice.txt").body
    deleted = manager.call("DELETE", f"{ALIASES}/nice.txt")

    assert (201, f"http://localhost:80{ALIASES}/nice.txt") == (made.status_int, made.headers["Location"])
    assert {"alias": "nice.txt", "file": file, "read_only": False} == made.json
    assert (200, again.json, again.headers["ETag"]) == (again.status_int, shown.json, shown.headers["ETag"])
    assert (b"other", 204) == (downloaded, deleted.status_int)
    assert 404 == manager.get(f"{ALIASES}/nice.txt").status_int
    app.get("/repository/file/nice.txt", status=404)


def test_a_changed_alias_is_not_hidden_by_caches(app, manager, file, upload):
    put(manager, "nice.txt", file)
    first = app.get("/repository/file/nice.txt")
    same = app.get("/repository/file/nice.txt", headers={"If-None-Match": first.headers["ETag"]})
    put(manager, "nice.txt", upload(b"other"))
    changed = app.get("/repository/file/nice.txt", headers={"If-None-Match": first.headers["ETag"]})

    assert ("public, no-cache", 304, 200) == (first.headers["Cache-Control"], same.status_int, changed.status_int)
    assert "immutable" in app.get(f"/repository/file/{file}").headers["Cache-Control"]


def test_any_form_of_a_name_finds_it(app, manager, file):
    put(manager, "zdje%CC%A8cie.png", file)

    assert b"content" == app.get("/repository/file/zdj%C4%99cie.png").body
    assert "zdj\u0119cie.png" == manager.get(ALIASES).json["items"][0]["alias"]


def test_changes_are_events(services, manager, file, upload):
    other = upload(b"other")
    for target in (file, file, other):
        put(manager, "nice", target)
    manager.call("DELETE", f"{ALIASES}/nice")

    with services.database.reading() as session:
        found = session.scalars(select(Event).where(Event.kind.like("alias.%")).order_by(Event.id)).all()
    assert [
        ("alias.created", {"name": "nice", "after": {"file": file}}),
        ("alias.edited", {"name": "nice", "before": {"file": file}, "after": {"file": other}}),
        ("alias.deleted", {"name": "nice", "before": {"file": other}}),
    ] == [(event.kind, event.data) for event in found]
    assert {services.tokens.fingerprint(manager.token)} == {event.actor for event in found}


def test_a_stale_etag_changes_nothing(manager, file, upload):
    etag = put(manager, "nice", file).headers["ETag"]
    put(manager, "nice", upload(b"other"))

    stale = [
        put(manager, "nice", file, **{"If-Match": etag}).status_int,
        manager.call("DELETE", f"{ALIASES}/nice", headers={"If-Match": etag}).status_int,
        put(manager, "new", file, **{"If-Match": etag}).status_int,
    ]

    assert [412, 412, 412] == stale
    fresh = manager.get(f"{ALIASES}/nice").headers["ETag"]
    assert 200 == put(manager, "nice", file, **{"If-Match": fresh}).status_int


def test_what_cannot_be_an_alias_is_refused(manager, file):
    for alias, target, field in [("nice", "nothing", "file"), ("a%09b", None, "alias")]:
        answer = put(manager, alias, target or file)

        assert (400, [field]) == (answer.status_int, [one["field"] for one in answer.json["errors"]])


class TestTheYamlFile:
    @pytest.fixture
    def file_alias(self, services, mapping, file):
        mapping.write_text(f"of-file: {file}\nother: {file}\n")
        services.feature(AliasServices).aliases._from_file._next_check = 0

    def test_its_aliases_are_shown_and_read_only(self, manager, file, file_alias):
        put(manager, "nice", file)

        items = manager.get(ALIASES).json["items"]

        assert [("of-file", True), ("other", True), ("nice", False)] == [
            (item["alias"], item["read_only"]) for item in items
        ]
        assert manager.get(f"{ALIASES}/of-file").json["read_only"]
        answers = [put(manager, "of-file", file), manager.call("DELETE", f"{ALIASES}/of-file")]
        assert [400, 400] == [answer.status_int for answer in answers]

    def test_it_wins(self, app, services, manager, mapping, file, upload):
        put(manager, "nice", upload(b"database"))
        mapping.write_text(f"nice: {file}\n")
        services.feature(AliasServices).aliases._from_file._next_check = 0

        assert b"content" == app.get("/repository/file/nice").body
        assert [("nice", True)] == [(one["alias"], one["read_only"]) for one in manager.get(ALIASES).json["items"]]
        assert 204 == manager.call("DELETE", f"{ALIASES}/nice").status_int

    def test_pages_follow_each_other(self, manager, file, file_alias):
        for number in range(3):
            put(manager, f"nice-{number}", file)
        found, cursor = [], ""
        while cursor is not None:
            page = manager.get(f"{ALIASES}?limit=2&cursor={cursor}").json
            found += [item["alias"] for item in page["items"]]
            cursor = page["next"]

        assert ["of-file", "other", "nice-0", "nice-1", "nice-2"] == found


def test_a_file_is_not_hidden_by_an_alias_with_its_name(app, manager, file, upload):
    other = upload(b"other")
    put(manager, other, file)

    assert b"other" == app.get(f"/repository/file/{other}").body


def test_an_alias_of_a_deleted_file_is_not_found(app, admin, manager, file):
    put(manager, "nice", file)
    app.delete(f"/repository/file/{file}?_token={admin}")

    app.get("/repository/file/nice", status=404)
