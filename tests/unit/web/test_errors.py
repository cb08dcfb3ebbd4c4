"""HTTP API, 1.2: bodies, validation, and errors, which are always JSON."""

from frepo_core.domain.roles import Role
from support.client import COLLECTIONS

GENERATE = "/auth/token/generate"
VALIDATION = {"status": "Validation error", "error_code": 400, "http_code": 400, "exit_code": 400}


def fields_of(answer):
    return answer.json["fields"]


def test_the_shape_of_a_validation_error(root):
    answer = root.post(GENERATE, {"roles": []})
    assert answer.status_int == 400
    assert answer.json == VALIDATION | {
        "fields": {"form.roles": ["List should have at least 1 item after validation, not 0"]}
    }

    """Shell clients search for the literal text."""
    assert root.post(GENERATE, {"roles": []}).body.startswith(b'{"status":"Validation error","error_code":400,')


def test_unknown_fields_are_refused_by_name(root):
    answer = root.post(GENERATE, {"roles": ["upload.all"], "x": 1})
    assert answer.json == VALIDATION | {
        "fields": {"form": ['This request does not support extra parameters such as "x"']}
    }

    answer = root.post(GENERATE, {"roles": ["upload.all"], "data": {"y": 1}})
    assert fields_of(answer) == {"form": ['This request does not support extra parameters such as "y"']}


def test_every_wrong_field_is_named_at_once(root):
    answer = root.post(GENERATE, {"roles": [], "expires": 5, "data": {"tags": "a"}})
    assert set(fields_of(answer)) == {"form.roles", "form.expires", "form.data.tags"}

    answer = root.post(GENERATE, {"roles": ["upload.all"], "expires": "next year", "id": "x"})
    assert fields_of(answer) == {
        "expires": ["invalid_date_format_and_not_an_expression"],
        "id": ["id_expects_to_be_uuidv4_format"],
    }


def test_a_field_of_the_wrong_json_type_is_refused(root):
    for value in ["upload.all", None, {}, 1, True, [None], [1], [["upload.all"]], [{}]]:
        assert set(fields_of(root.post(GENERATE, {"roles": value}))) == {"form.roles"}, value


def test_a_field_of_a_collection_of_the_wrong_json_type_is_refused(root):
    for field, value in [
        ("description", ["a"]),
        ("description", {"a": 1}),
        ("description", 5),
        ("filename", None),
        ("filename", ["a"]),
        ("filename", 5),
        ("password", 5),
        ("password", ["a"]),
        ("strategy", 5),
        ("strategy", ["a"]),
        ("id", 5),
        ("maxBackupsCount", [1]),
        ("maxBackupsCount", {}),
        ("maxOneVersionSize", [1]),
        ("maxCollectionSize", {"a": [None]}),
    ]:
        answer = root.create(**{field: value})

        assert (answer.status_int, set(fields_of(answer))) == (400, {f"form.{field}"})


def test_a_body_that_is_not_an_object_in_utf8_is_refused(root):
    for body in [b"[]", b"null", b'"text"', b"5", b"true", b"[{}]"]:
        answer = root.call("POST", GENERATE, body=body)
        assert fields_of(answer) == {"form": ["The body has to be a JSON object"]}, body

    for body in [
        b"{",
        b"roles=a",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b"\xff\xfe",
        '{"a": "ü"}'.encode("latin-1"),
        '{"a": 1}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\0",
        b'{"roles": ["upload.all"]} x',
        b"1" * 10_000,
        b'{"a": "' + b"x" * 2_000_000 + b'"}',
    ]:
        answer = root.call("POST", GENERATE, body=body)
        assert (answer.status_int, answer.json["error_code"], answer.json["exit_code"]) == (400, 400, 400), body

    for body in [b'{"roles": ["\\ud800"]}', b'{"\\ud800": 1}', b'{"roles": ["upload.all"], "expires": "\\ud800"}']:
        assert root.call("POST", GENERATE, body=body).status_int == 400, body
    assert fields_of(root.call("POST", GENERATE)) == {"form.roles": ["Field required"]}


def test_json_is_read_with_any_content_type(root):
    for content_type in ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]:
        answer = root.post(GENERATE, {"roles": ["upload.all"]}, headers={"Content-Type": content_type})

        assert answer.status_int == 202, content_type


def test_these_are_true(root, services):
    for value in ["true", "1", "yes", "on", "TRUE", "Yes", "oN"]:
        stored = root.upload(public=value).json["filename"]

        assert services.files.find(stored).public is True, value


def test_these_are_false(root, services):
    for value in ["false", "0", "no", "off", "", "FALSE", "No", "oFf"]:
        stored = root.upload(public=value).json["filename"]

        assert services.files.find(stored).public is False, value


def test_other_values_are_refused_as_booleans(root):
    for value in ["2", "maybe", "y", "t", "null", " true", "-1", "truee"]:
        answer = root.upload(public=value)

        assert (answer.json["status"], set(fields_of(answer))) == ("Validation error", {"form.public"}), value


def test_simulate_is_a_boolean(root):
    for method, path in [("POST", COLLECTIONS), ("PUT", COLLECTIONS)]:
        answer = root.call(method, path, {"simulate": "perhaps"}, json={"filename": "a"})

        assert set(fields_of(answer)) == {"form.simulate"}, method


def test_an_unknown_path_answers_json(root):
    for path in ["/nowhere", "/repository", "/repository/nothing/here/at/all", "/%2e%2e/etc/passwd", "//"]:
        answer = root.call("PATCH", path)

        assert (answer.content_type, answer.json["http_code"]) == ("application/json", answer.status_int), path


def test_a_path_that_is_not_utf8_answers_json(anonymous):
    answer = anonymous.get("/repository/file/%ff")

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


def test_a_wrong_method_is_answered_with_the_allowed_ones(root):
    for path, allowed in [
        (COLLECTIONS, {"POST", "PUT"}),
        ("/auth/token/generate", {"POST"}),
        ("/repository/file/a", {"DELETE", "GET", "HEAD", "POST"}),
    ]:
        answer = root.call("PATCH", path)

        assert (answer.status_int, answer.json["error_code"]) == (405, 405), path
        assert allowed <= set(answer.headers["Allow"].split(", "))


def test_a_file_with_an_unusual_name_is_not_found(anonymous):
    for name in ["a\0b", "a" * 10_000, "..", "a\nb", "\N{SNOWMAN}"]:
        answer = anonymous.download(name)

        assert (answer.status_int, answer.json["exit_code"]) == (404, 404), name


def test_the_permission_is_checked_before_the_body(holder):
    assert holder(Role.UPLOAD_ALL).call("POST", GENERATE, body=b"{").status_int == 403


def test_content_is_never_encoded(anonymous, uploader):
    name = uploader.upload(b"a" * 10_000).json["filename"]
    answer = anonymous.download(name, headers={"Accept-Encoding": "gzip, br"})

    assert ("Content-Encoding" not in answer.headers, len(answer.body)) == (True, 10_000)


def test_unusual_headers_do_not_break_a_download(anonymous, uploader):
    for headers in [
        {"If-Modified-Since": "garbage"},
        {"If-Modified-Since": "Mon, 99 Foo 0000 99:99:99 GMT"},
        {"If-Modified-Since": "Thu, 01 Jan 99999 00:00:00 GMT"},
        {"If-Unmodified-Since": "0"},
        {"If-None-Match": '"'},
        {"If-None-Match": "\xff,,,"},
        {"If-Range": "nonsense"},
        {"Range": "bytes=" + "0-0," * 5000},
        {"Range": "bytes=\xff-"},
        {"Accept": "%%%"},
        {"Cookie": "\xff=\xff; ;;"},
        {"Content-Type": "multipart/form-data"},
        {"User-Agent": "\xff" * 1000},
    ]:
        name = uploader.upload().json["filename"]
        assert anonymous.download(name, headers=headers).status_int in {200, 206, 304, 412}, headers


def test_answers_end_with_a_newline(root):
    for path in ["/", "/version", "/nothing", "/api/v1", "/api/v1/nothing", "/api/doc.json", "/api/v1/openapi.json"]:
        assert root.get(path).text.endswith("}\n" if path != "/version" else "\n")
