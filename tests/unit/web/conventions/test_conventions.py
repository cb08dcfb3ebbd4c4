"""The conventions of /api/v1: tokens, errors, unknown names, OPTIONS and CORS."""

import pytest

from frepo_core.domain.roles import Role
from frepo_core.web.conventions import problems
from support.client import with_settings
from support.paths import ROOT

COLLECTIONS = "/api/v1/collections"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def fields(answer):
    return {wrong["field"] for wrong in answer.json["errors"]}


def test_a_token_is_needed_in_a_header(anonymous, app, uploader):
    for path in ["/api/v1", COLLECTIONS, f"{COLLECTIONS}/1"]:
        answer = anonymous.get(path)
        assert (401, "Bearer", 403) == (answer.status_int, answer.headers["WWW-Authenticate"], answer.json["code"]), (
            path
        )

    answer = app.get("/api/v1", headers=bearer("a6c1d7f0-38bb-4c0e-9d7e-0f3b1a2c4d5e"), status=401)
    assert 'Bearer error="invalid_token"' == answer.headers["WWW-Authenticate"]

    answer = uploader.get("/api/v1/tokens")
    assert 403 == answer.status_int
    assert "WWW-Authenticate" not in answer.headers


def test_the_token_is_in_a_header_of_this_api(app, admin, anonymous, root):
    for header in [{"X-Auth-Token": "{}"}, {"Authorization": "Bearer {}"}, {"Authorization": "bearer {}"}]:
        headers = {name: value.format(admin) for name, value in header.items()}
        assert 200 == app.get("/api/v1", headers=headers).status_int, header

    assert app.get("/api/v1", headers={"token": admin}, status=401)

    for name in ["_token", "token", "access_token"]:
        assert 401 == anonymous.get("/api/v1", {name: admin}).status_int
        assert "never read from the URL" in root.get("/api/v1", {name: admin}).json["errors"][0]["message"]


def test_an_error_is_a_problem_with_a_link_to_the_documentation(root):
    answer = root.get("/api/v1/nothing")

    assert "application/problem+json" == answer.headers["Content-Type"]
    assert answer.json == {
        "type": "http://localhost:80/api/v1/doc#error-404",
        "title": "It does not exist",
        "status": 404,
        "detail": "There is nothing at this path",
        "code": 404,
        "errors": [],
    }


@pytest.mark.costly
def test_the_documentation_has_an_entry_for_each_error(root):
    page = root.get("/api/v1/doc").text

    for code in (400, 403, 404, 4007, 60007, 7016104):
        assert f"id='error-{code}'" in page


def test_all_wrong_fields_and_parameters_are_named_at_once(root):
    body = {"name": "a/b", "limits": {"versions": -1, "x": 1}, "guards": {"min_retention": "P1M"}, "label": "a"}
    answer = root.post(COLLECTIONS, body)
    assert 400 == answer.status_int
    assert {"name", "limits.versions", "limits.x", "guards.min_retention", "label"} == fields(answer)

    answer = root.get(COLLECTIONS, {"limit": "0", "sort": "size", "stat": "ok", "cursor": "\0"})
    assert {"limit", "sort", "stat", "cursor"} == fields(answer)
    answer = root.post(COLLECTIONS, {"name": "a", "limits": {"version_size": 10, "total_size": 5}})
    assert (400, 4003, {"limits.total_size"}) == (answer.status_int, answer.json["code"], fields(answer))
    for body in [b"{", b"[]", b"\xff", b'{"name": "a\\u0000"}']:
        assert 400 == root.call("POST", COLLECTIONS, body=body).status_int


@with_settings(backup__max_versions="5", backup__one_version_max_size="10MB")
def test_all_broken_rules_are_answered_at_once(root):
    body = {
        "name": "a",
        "limits": {"versions": 6, "version_size": 20_000_000, "total_size": 5},
        "strategy_options": {"unknown": 1},
    }
    made = root.post(COLLECTIONS, body)
    path = f"{COLLECTIONS}/{root.post(COLLECTIONS, {'name': 'b'}).json['id']}"
    edited = root.call("PATCH", path, json=body)

    expected = {"limits.versions", "limits.version_size", "limits.total_size", "strategy_options"}
    assert (400, expected) == (made.status_int, {name.partition(".unknown")[0] for name in fields(made)})
    assert (400, fields(made)) == (edited.status_int, fields(edited))
    assert "5" in next(one["message"] for one in made.json["errors"] if one["field"] == "limits.versions")


def test_the_methods_of_a_path_are_named(root, anonymous):
    answer = root.call("PUT", COLLECTIONS)
    assert (405, "GET, HEAD, POST") == (answer.status_int, answer.headers["Allow"])
    assert "application/problem+json" == answer.headers["Content-Type"]

    answer = anonymous.call("OPTIONS", COLLECTIONS)
    assert (204, "GET, HEAD, POST, OPTIONS") == (answer.status_int, answer.headers["Allow"])


def test_a_bug_has_an_id_that_the_log_has(root, monkeypatch, caplog):
    monkeypatch.setattr("frepo_core.services.backups.collections.collection_pages._conditions", lambda *_: 1 / 0)

    answer = root.get(COLLECTIONS)

    assert 500 == answer.status_int
    assert answer.json["error_id"] in caplog.text


def test_an_empty_if_match_changes_nothing(root, collection):
    answer = root.call("PATCH", f"{COLLECTIONS}/{collection}", json={"name": "b.gz"}, headers={"If-Match": ""})

    assert (400, {"If-Match"}) == (answer.status_int, fields(answer))
    assert "b.gz" != root.get(f"{COLLECTIONS}/{collection}").json["name"]


def test_an_object_that_does_not_exist_is_a_404(root):
    answer = root.get(f"{COLLECTIONS}/52f29b69-9ff7-4d10-8d9c-1c9b7a0c7a52")

    assert (404, "application/problem+json") == (answer.status_int, answer.headers["Content-Type"])


@with_settings(read_only="true")
def test_a_change_is_a_503_in_read_only_mode(root):
    answer = root.post(COLLECTIONS, {"name": "a"})

    assert (503, 5000001) == (answer.status_int, answer.json["code"])
    may = root.get("/api/v1").json["may"]
    assert {"version.list", "trash.list"} < set(may) and not {"version.upload", "trash.restore"} & set(may)


ORIGIN = {"Origin": "https://ops.example.org"}


def test_no_origin_is_allowed_by_default(root):
    answer = root.get("/api/v1", headers=ORIGIN)

    assert [] == [name for name in answer.headers if name.startswith("Access-Control")]


@with_settings(cors__origins="https://ops.example.org, http://localhost:3000")
class TestWithOrigins:
    def test_a_named_origin_may_read_the_answer(self, root):
        answer = root.get("/api/v1", headers=ORIGIN)

        assert "https://ops.example.org" == answer.headers["Access-Control-Allow-Origin"]
        assert "Origin" == answer.headers["Vary"]
        assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer.headers

    def test_a_named_origin_may_read_an_error(self, anonymous):
        for path in ["/api/v1", "/api/v1/nothing"]:
            answer = anonymous.get(path, headers=ORIGIN)

            assert "https://ops.example.org" == answer.headers["Access-Control-Allow-Origin"], path

    def test_a_browser_is_told_what_it_may_send(self, anonymous):
        asked = ORIGIN | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
        answer = anonymous.call("OPTIONS", COLLECTIONS, headers=asked)

        assert (204, "GET, HEAD, POST") == (answer.status_int, answer.headers["Access-Control-Allow-Methods"])
        assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]

    def test_another_origin_may_not(self, root):
        answer = root.get("/api/v1", headers={"Origin": "https://evil.example.org"})

        assert "Access-Control-Allow-Origin" not in answer.headers

    def test_the_first_api_has_no_cors(self, root):
        assert "Access-Control-Allow-Origin" not in root.get("/version", headers=ORIGIN).headers


def test_who_am_i(holder):
    answer = holder(Role.UPLOAD_ALL, tags=["a"], max_file_size=10).get("/api/v1")

    assert ["upload.all"] == answer.json["token"]["roles"]
    assert {"tags": ["a"], "mime_types": [], "max_file_size": 10, "user_agents": [], "ip_addresses": []} == answer.json[
        "token"
    ]["restrictions"]
    assert answer.json["token"]["expires_at"] is None
    assert "collections" in answer.json["features"]
    assert "delete_oldest_when_adding_new" in answer.json["strategies"]
    assert "P7D" == answer.json["trash_keep"]


def test_the_page_of_errors_names_the_statuses_that_differ():
    page = (ROOT / "docs/errors.md").read_text()
    paragraph = page.partition("[`/api/v1`]")[2].partition("\n\n")[0].replace("\n", " ")

    for kind, status in problems.STATUS.items():
        assert str(kind.number) in paragraph.partition(f"{status} for ")[2].partition(";")[0]
