"""Contract 2.1: uploading a file, its parameters, and the names that it gets."""

import base64
import hashlib
from io import BytesIO

import pytest
from webtest import TestApp

from frepo_core.domain.roles import Role
from web.client import Client
from web.samples import PNG

HELLO = hashlib.sha256(b"hello").hexdigest()
HELLO_DIGEST = f"sha-256=:{base64.b64encode(bytes.fromhex(HELLO)).decode()}:"
BAD_NAME = "File name is not valid, please normalize it"


def cut_short():
    """Make the environment of a request that promises more than it holds."""
    return {"wsgi.input": BytesIO(b"hell"), "CONTENT_LENGTH": "5"}


def stored(services, answer):
    return services.files.find(answer.json["filename"])


def test_an_upload_answers_all_that_clients_look_for(uploader):
    answer = uploader.upload(b"hello", "hello.txt")

    assert answer.status_int == 200
    body = answer.json
    assert body.pop("id") > 0
    assert body == {
        "status": "OK",
        "error_code": None,
        "http_code": 200,
        "exit_code": 200,
        "url": f"http://localhost:80/repository/file/{HELLO[:10]}hello.txt",
        "back": "",
        "filename": f"{HELLO[:10]}hello.txt",
        "requested_filename": "hello.txt",
        "context": None,
        "size": 5,
        "sha256": HELLO,
        "mime": "text/plain",
    }


def test_an_upload_answers_its_digest_in_a_header(uploader):
    answer = uploader.upload(b"hello")

    assert answer.headers["Repr-Digest"] == HELLO_DIGEST


@pytest.mark.parametrize("word", ["file", "image", "anything", "my-word_2"])
def test_the_type_in_the_path_is_any_word(uploader, word):
    answer = uploader.call("POST", f"/repository/{word}/upload", {"fileName": "a.txt"}, body=b"hello")

    assert answer.status_int == 200


def test_the_name_may_be_in_the_path(uploader):
    answer = uploader.call("POST", "/repository/file/a%20(1)+b.txt", body=b"hello")

    assert answer.json["filename"] == f"{HELLO[:10]}a (1)+b.txt"


@pytest.mark.parametrize(
    "content_type", ["", "application/x-www-form-urlencoded", "application/json", "text/plain; charset=x", "nonsense"]
)
def test_any_content_type_is_raw_content(uploader, stranger, content_type):
    answer = uploader.upload(b"a=b&c=%ff", headers={"Content-Type": content_type})

    assert stranger.download(answer.json["filename"]).body == b"a=b&c=%ff"


def test_a_form_carries_the_part_named_file(uploader, stranger):
    answer = uploader.send_form(("first", "b.txt", b"other"), ("file", "a.txt", b"hello"))

    assert (answer.json["filename"], answer.json["size"]) == (f"{HELLO[:10]}a.txt", 5)


def test_a_form_without_a_part_named_file_carries_the_first_file(uploader):
    answer = uploader.send_form(("x", "1"), ("one", "a.txt", b"hello"), ("two", "b.txt", b"other"))

    assert answer.json["filename"] == f"{HELLO[:10]}a.txt"


def test_a_form_without_a_file_is_refused(uploader):
    answer = uploader.send_form(("fileName", "a.txt"))

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


@pytest.mark.parametrize("body", [b"", b"hello", b"--boundary\r\n", b"--boundary\r\nX\r\n\r\nhello"])
def test_a_broken_form_is_refused(uploader, body):
    headers = {"Content-Type": "multipart/form-data; boundary=boundary"}
    answer = uploader.upload(body, headers=headers)

    assert answer.status_int == 400


def test_a_form_without_a_boundary_is_refused(uploader):
    answer = uploader.upload(b"hello", headers={"Content-Type": "multipart/form-data"})

    assert answer.status_int == 400


def test_fields_of_a_form_win_over_the_query(uploader):
    answer = uploader.send_form(("fileName", "form.txt"), ("file", "a.txt", b"hello"), query={"fileName": "query.txt"})

    assert answer.json["requested_filename"] == "form.txt"


def test_the_query_counts_where_a_form_is_silent(uploader):
    answer = uploader.send_form(("public", "1"), ("file", "a.txt", b"hello"), query={"fileName": "query.txt"})

    assert answer.json["requested_filename"] == "query.txt"


def test_all_parameters_can_be_fields_of_a_form(uploader, services):
    fields = [("tags[]", "A"), ("tags[]", "b"), ("public", "yes"), ("password", "p")]
    answer = uploader.send_form(*fields, ("file", "a.txt", b"hello"))
    file = stored(services, answer)

    assert (file.tags, file.public, file.password_hash is None) == (("a", "b"), True, False)


@pytest.mark.parametrize("path", ["/repository/file/upload?fileName=a.txt", "/repository/file/a.txt"])
def test_an_empty_body_is_refused(uploader, path):
    answer = uploader.call("POST", path, body=b"")

    assert (answer.status_int, answer.json["error_code"], answer.json["url"]) == (400, 60003, None)


def test_an_empty_part_is_refused(uploader):
    answer = uploader.send_form(("file", "a.txt", b""))

    assert answer.json["error_code"] == 60003


@pytest.mark.parametrize("name", ["a", "a" * 200, "A-Z.0_9+ ()[]!,@$.txt", "...", ".htaccess", "a b"])
def test_these_names_are_allowed(uploader, name):
    answer = uploader.upload(b"hello", name)

    assert answer.json["filename"] == HELLO[:10] + name


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", " a", "a ", "a/b", "../a", "a\\b", "a\0b", "a\nb", "a\n", "\xfc", "a%b", "a'b", 'a"b', "a<b"]
    + ["a;b", "a&b", "a#b", "a?b", "a:b", "a*b", "a|b", "a~b", "a" * 201, "a" * 10_000, "\N{SNOWMAN}", "\u0661"],
)
def test_any_other_name_is_refused(uploader, name):
    answer = uploader.upload(b"hello", name)

    assert (answer.status_int, answer.json["fields"]) == (400, {"form.fileName": [BAD_NAME]})


def test_a_refused_name_is_a_validation_error(uploader):
    answer = uploader.upload(b"hello", "a/b")

    assert answer.json["status"] == "Validation error"


def test_a_refused_name_in_the_path_is_told_alike(uploader):
    answer = uploader.call("POST", "/repository/file/a*b", body=b"hello")

    assert answer.json["fields"] == {"form.fileName": [BAD_NAME]}


def test_without_a_name_the_parts_own_name_counts(uploader):
    answer = uploader.send_form(("file", "own.txt", b"hello"))

    assert answer.json["requested_filename"] == "own.txt"


def test_without_any_name_the_upload_is_refused(uploader):
    answer = uploader.call("POST", "/repository/file/upload", body=b"hello")

    assert set(answer.json["fields"]) == {"form.fileName"}


@pytest.mark.parametrize("spelling", ["tags", "tags[]"])
def test_tags_are_stored_in_lower_case(uploader, services, spelling):
    answer = uploader.upload(**{spelling: ["B.c", "a-1_", "B.C"]})

    assert stored(services, answer).tags == ("a-1_", "b.c")


@pytest.mark.parametrize("tag", ["", " ", "a b", "a/b", "a" * 65, "a,b", "a\n"])
def test_odd_tags_are_refused(uploader, tag):
    answer = uploader.upload(tags=tag)

    assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.tags"})


def test_a_file_is_not_public_unless_it_says_so(uploader, services):
    answer = uploader.upload()

    assert stored(services, answer).public is False


def test_a_password_may_have_250_characters(uploader, stranger):
    name = uploader.upload(password="\xfc" * 250).json["filename"]

    assert stranger.download(name, {"password": "\xfc" * 250}).status_int == 200


def test_a_longer_password_is_refused(uploader):
    answer = uploader.upload(password="a" * 251)

    assert set(answer.json["fields"]) == {"form.password"}


def test_a_password_is_stored_with_argon2(uploader, services):
    answer = uploader.upload(password="secret")

    assert stored(services, answer).password_hash.startswith("$argon2id$")


@pytest.mark.parametrize("encoding", ["", "plain"])
def test_plain_content_is_taken_as_it_is(uploader, encoding):
    answer = uploader.upload(b"aGVsbG8=", encoding=encoding)

    assert answer.json["size"] == 8


@pytest.mark.parametrize(
    "text",
    [
        b"aGVsbG8=",
        b"data:text/plain;base64,aGVsbG8=",
        b"DATA:;base64,aGVsbG8=",
        b"aGVs\r\nbG8=\n",
        b"data:image/png;charset=x;base64,aGVsbG8=",
    ],
)
def test_base64_is_decoded(uploader, text):
    answer = uploader.upload(text, encoding="base64")

    assert answer.json["sha256"] == HELLO


@pytest.mark.parametrize("text", [b"aGVsbG8", b"hello!", b"data:text/plain", b"a", b"aGVsbG8==="])
def test_bad_base64_is_refused(uploader, text):
    answer = uploader.upload(text, encoding="base64")

    assert answer.status_int == 400


def test_base64_of_nothing_is_empty(uploader):
    answer = uploader.upload(b"data:text/plain;base64,", encoding="base64")

    assert answer.json["error_code"] == 60003


def test_base64_in_a_form_is_decoded(uploader):
    answer = uploader.send_form(("encoding", "base64"), ("file", "a.txt", b"aGVsbG8="))

    assert answer.json["sha256"] == HELLO


def test_base64_counts_decoded_against_the_limit(holder):
    answer = holder(Role.UPLOAD_ALL, max_file_size=5).upload(b"aGVsbG8=", encoding="base64")

    assert answer.status_int == 200


@pytest.mark.parametrize("encoding", ["gzip", "BASE64", "base64 "])
def test_other_encodings_are_refused(uploader, encoding):
    answer = uploader.upload(encoding=encoding)

    assert set(answer.json["fields"]) == {"form.encoding"}


MD5 = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
OTHER_DIGEST = HELLO_DIGEST.replace("LPJNul", "AAAAAA")


@pytest.mark.parametrize("sha256", [HELLO, HELLO.upper()])
def test_a_right_digest_in_the_query_passes(uploader, sha256):
    answer = uploader.upload(sha256=sha256)

    assert answer.status_int == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Repr-Digest", HELLO_DIGEST),
        ("Content-Digest", HELLO_DIGEST),
        ("Content-Digest", f"md5=:{MD5}:, {HELLO_DIGEST}"),
        ("Repr-Digest", "sha-512=:AAAA:"),
        ("Content-MD5", MD5),
    ],
)
def test_a_right_digest_in_a_header_passes(uploader, header, value):
    answer = uploader.upload(headers={header: value})

    assert answer.status_int == 200


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Repr-Digest", OTHER_DIGEST),
        ("Content-Digest", OTHER_DIGEST),
        ("Content-MD5", base64.b64encode(bytes(16)).decode()),
    ],
)
def test_a_wrong_digest_in_a_header_is_refused(uploader, services, header, value):
    answer = uploader.upload(headers={header: value})

    assert (answer.status_int, answer.json["error_code"]) == (400, 60007)


def test_a_wrong_digest_stores_nothing(uploader, tmp_path):
    answer = uploader.upload(sha256="0" * 64)

    assert answer.json["error_code"] == 60007
    assert [] == [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


@pytest.mark.parametrize("sha256", ["x", "0" * 63, "0" * 65, "g" * 64])
def test_a_digest_that_is_none_is_refused(uploader, sha256):
    answer = uploader.upload(sha256=sha256)

    assert set(answer.json["fields"]) == {"form.sha256"}


@pytest.mark.parametrize(
    ("header", "value"),
    [("Repr-Digest", "x"), ("Content-Digest", "sha-256=:AAAA:"), ("Content-MD5", "x"), ("Content-MD5", "AAAA")],
)
def test_a_digest_header_that_is_none_is_refused(uploader, header, value):
    answer = uploader.upload(headers={header: value})

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


def test_a_digest_is_that_of_the_decoded_content(uploader):
    answer = uploader.upload(b"aGVsbG8=", encoding="base64", sha256=HELLO)

    assert answer.status_int == 200


def test_the_same_content_under_any_name_answers_with_the_file_that_is_there(uploader):
    first = uploader.upload(b"hello", "first.txt").json
    answer = uploader.upload(b"hello", "second.txt")

    assert answer.status_int == 202
    assert answer.json == first | {"http_code": 202, "exit_code": 202, "requested_filename": "second.txt"}


def test_another_token_is_answered_with_the_same_file(uploader, holder):
    first = uploader.upload(b"hello")
    answer = holder(Role.UPLOAD_DOCUMENTS).upload(b"hello", "b.txt")

    assert (answer.status_int, answer.json["id"]) == (202, first.json["id"])


def test_a_file_with_a_password_is_not_answered_without_it(uploader):
    first = uploader.upload(b"hello", password="secret")
    answer = uploader.upload(b"hello")

    assert answer.status_int == 200
    assert answer.json["id"] != first.json["id"]


def test_a_file_with_a_password_is_not_answered_with_another(uploader):
    first = uploader.upload(b"hello", password="secret")
    answer = uploader.upload(b"hello", password="other")

    assert answer.status_int == 200
    assert answer.json["id"] != first.json["id"]


def test_a_file_with_a_password_is_answered_with_the_same(uploader):
    first = uploader.upload(b"hello", password="secret")
    answer = uploader.upload(b"hello", "b.txt", password="secret")

    assert (answer.status_int, answer.json["id"]) == (202, first.json["id"])


def test_an_open_file_does_not_stand_in_for_one_with_a_password(uploader, stranger):
    uploader.upload(b"hello")
    name = uploader.upload(b"hello", password="secret").json["filename"]

    assert stranger.download(name).status_int == 403


def test_a_taken_name_gets_other_digits(uploader):
    uploader.upload(b"hello", "a.txt", password="secret")
    answer = uploader.upload(b"hello", "a.txt")

    digits = hashlib.sha256(f"{HELLO}1".encode()).hexdigest()[:10]
    assert answer.json["filename"] == f"{digits}a.txt"


def test_a_second_record_shares_the_bytes(uploader, tmp_path):
    uploader.upload(b"hello", password="secret")
    uploader.upload(b"hello")

    assert 1 == sum(path.is_file() for path in (tmp_path / "storage").rglob("*"))


def test_a_versions_record_is_never_answered(root, collection):
    pushed = root.push(collection, b"hello")
    answer = root.upload(b"hello")

    assert answer.status_int == 200
    assert answer.json["id"] != pushed.json["version"]["file"]["id"]


def test_uploading_again_does_not_change_the_record_by_itself(uploader, services):
    uploader.upload(b"hello", tags="a")
    answer = uploader.upload(b"hello", tags="b", public="true")
    file = stored(services, answer)

    assert (file.tags, file.public) == (("a",), False)


def test_overwriting_replaces_tags_public_and_password(holder, services):
    owner = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    first = owner.upload(b"hello", "first.txt", tags="a", password="old")
    answer = owner.upload(b"hello", "second.txt", tags="b", public="1", password="new", fileOverwrite="1")
    file = stored(services, answer)

    assert (answer.status_int, answer.json["filename"]) == (202, first.json["filename"])
    assert (file.tags, file.public) == (("b",), True)


def test_overwriting_replaces_the_password(holder, stranger):
    owner = holder(Role.UPLOAD_ALL, Role.OVERWRITE)
    name = owner.upload(b"hello", password="old").json["filename"]
    owner.upload(b"hello", password="new", fileOverwrite="1")
    answers = [stranger.download(name, {"password": word}).status_int for word in ("old", "new")]

    assert answers == [403, 200]


def test_overwriting_what_is_not_there_adds_it(holder):
    answer = holder(Role.UPLOAD_ALL, Role.OVERWRITE).upload(fileOverwrite="1")

    assert answer.status_int == 200


def test_overwriting_needs_its_role(uploader):
    answer = uploader.upload(fileOverwrite="true")

    assert (answer.status_int, answer.json["status"].endswith("overwrite_not_allowed")) == (403, True)


def test_not_overwriting_needs_no_role(uploader):
    answer = uploader.upload(fileOverwrite="false")

    assert answer.status_int == 200


@pytest.mark.parametrize("lint", [True, False], ids=["a-stream", "a-file"])
def test_a_body_that_ends_early_is_refused(uploader, lint):
    caller = Client(TestApp(uploader.app.app, lint=lint), uploader.token)
    answer = caller.call("POST", "/repository/file/a.txt", environ=cut_short())

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


@pytest.mark.parametrize("lint", [True, False], ids=["a-stream", "a-file"])
def test_a_body_that_ends_early_leaves_nothing(uploader, tmp_path, lint):
    caller = Client(TestApp(uploader.app.app, lint=lint), uploader.token)
    caller.call("POST", "/repository/file/a.txt", environ=cut_short())

    assert [] == [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


def test_a_png_is_an_image(uploader):
    answer = uploader.upload(PNG, "a.bin")

    assert answer.json["mime"] == "image/png"
