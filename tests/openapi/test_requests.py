"""Requests that schemathesis found, and cases that it cannot generate."""

import uuid

import pytest
from sqlalchemy import event

from frepo_core.domain.roles import Role

UNKNOWN = str(uuid.UUID(int=4 << 76 | 2 << 62))


@pytest.fixture
def headers(admin):
    return {"X-Auth-Token": admin}


@pytest.fixture
def collection(app, headers):
    return app.post_json("/repository/collection", {"filename": "a.sql"}, headers=headers).json["collection"]["id"]


@pytest.mark.costly
def test_a_wrong_method_is_405_even_where_the_path_names_nothing(app, headers):
    for path in [f"/repository/collection/{UNKNOWN}", f"/repository/collection/{UNKNOWN}/backup"]:
        assert "GET" in app.request(path, method="PATCH", headers=headers, status=405).headers["Allow"], path


def test_json_that_no_database_can_hold_is_refused(app, headers):
    for text in ["\\u0000", "\\ud800", "\\udfffa"]:
        body = f'{{"filename": "a.sql", "description": "{text}"}}'.encode()

        answer = app.post("/repository/collection", body, headers=headers, content_type="application/json", status=400)

        assert answer.json["status"].startswith("A text holds"), text


def test_u_0000_is_reported_with_its_field(app, headers):
    for path, form in [
        ("/repository/collection", {"filename": "a.sql", "description": "a\0"}),
        ("/auth/token/generate", {"roles": ["upload.all"], "data": {"allowedMimeTypes": ["a/b", "a/\0"]}}),
    ]:
        answer = app.post_json(path, form, headers=headers, status=400)

        assert set(answer.json["fields"]) <= {"form.description", "form.data.allowedMimeTypes"}, path


def test_u_0000_in_a_query_is_refused(app, headers):
    for name in ["searchQuery", "tags[]", "mimes", "password"]:
        answer = app.get("/repository", {name: "a\0"}, headers=headers, status=400)

        assert set(answer.json["fields"]) == {f"form.{name.removesuffix('[]')}"}


def test_u_0000_names_nothing_in_a_path(app, headers, collection, services):
    bound = []
    event.listen(services.database.engine, "before_cursor_execute", lambda *call: bound.append(call[3]))
    versions = f"/repository/collection/{collection}/backup"

    statuses = [
        app.get(f"{path}%00", headers=headers, expect_errors=True).status_int
        for path in ("/repository/file/a", "/repository/collection/", "/auth/token/", f"{versions}/")
    ]
    statuses += [
        app.delete(f"{path}%00", headers=headers, expect_errors=True).status_int
        for path in ("/repository/file/a", f"{versions}/", f"/repository/collection/{collection}/token/")
    ]

    assert statuses == [404, 400, 404, 404, 404, 400, 400]
    assert "\0" not in "".join(map(str, bound)).replace("\\x00", "\0")


def test_head_is_refused_where_it_would_change_something(app, headers):
    for path in ["/jobs/token/expired/clear", "/repository/file/upload"]:
        assert "HEAD" not in app.head(path, headers=headers, status=405).headers["Allow"], path


def test_head_clears_no_tokens(app, headers, services, make_token):
    make_token(Role.UPLOAD_ALL, expires="-1 day")

    app.head("/jobs/token/expired/clear", headers=headers, status=405)
    assert len(app.get("/jobs/token/expired/clear", headers=headers).json["log"]) == 1


def test_a_retention_that_is_no_length_of_time_is_refused(app, headers):
    for value in ["7d ", " 7d", "7  d", "7\td", "999999999w", "7D5", 7]:
        form = {"filename": "a.sql", "minRetention": value}

        answer = app.post_json("/repository/collection", form, headers=headers, status=400)

        assert answer.json["errors"] == {"minRetention": "expected_length_of_time_such_as_7d"}, value


def test_a_percentage_is_a_count(app, headers):
    for value, text in [
        ("a", "expected_int_type"),
        (True, "expected_int_type"),
        (-1, "number_cannot_be_negative_value"),
    ]:
        form = {"filename": "a.sql", "maxShrinkPercent": value}

        answer = app.post_json("/repository/collection", form, headers=headers, status=400)

        assert answer.json["errors"] == {"maxShrinkPercent": text}


def test_a_page_is_a_number_in_digits(app, headers):
    for value in ["1_0", "+1", " 1", "1.0", "١", ""]:
        answer = app.get("/repository", {"page": value}, headers=headers, status=400)

        assert "form.page" in answer.json["fields"], value


def test_a_count_of_5_can_be_written_in_other_ways(app, headers):
    for value in [5.0, "5"]:
        form = {"filename": "a.sql", "maxBackupsCount": value}

        answer = app.post_json("/repository/collection", form, headers=headers)

        assert answer.json["collection"]["max_backups_count"] == 5, value


def test_an_end_long_ago_has_four_digits_for_its_year(app, headers):
    form = {"roles": ["upload.all"], "expires": "-999 years -990 years"}

    assert app.post_json("/auth/token/generate", form, headers=headers).json["expires"].startswith("00")


def test_conditions_that_fail_are_answered_in_json(app, headers):
    for header, value, status in [("If-Match", '"other"', 412), ("Range", "bytes=100-", 416)]:
        url = app.post("/repository/file/upload?fileName=a.txt", b"hello", headers=headers).json["url"]

        answer = app.get(url, headers={header: value}, status=status)

        assert answer.content_type == "application/json", header
        assert answer.json["error_code"] == status
        assert "Content-Disposition" not in answer.headers, header


def test_an_upload_of_the_type_collection_is_an_upload(app, headers):
    answer = app.post("/repository/collection/upload?fileName=a.txt", b"hello", headers=headers)

    assert answer.json["status"] == "OK"
