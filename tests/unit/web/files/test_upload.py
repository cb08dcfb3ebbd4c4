"""HTTP API, 2.1: uploading a file, raw and by a form, and its parameters."""

from support.answers import HELLO, HELLO_DIGEST
from support.client import stored


def test_the_answer_of_an_upload_has_all_fields(uploader):
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
    assert uploader.upload(b"hello").headers["Repr-Digest"] == HELLO_DIGEST


def test_the_type_in_the_path_is_any_word(uploader):
    for word in ["file", "image", "anything", "my-word_2"]:
        answer = uploader.call("POST", f"/repository/{word}/upload", {"fileName": "a.txt"}, body=b"hello")

        assert answer.status_int in {200, 202}, word


def test_a_form_carries_the_part_named_file_or_the_only_file(uploader, anonymous):
    answer = uploader.send_form(("first", "", b""), ("file", "a.txt", b"hello"))
    assert (answer.json["filename"], answer.json["size"]) == (f"{HELLO[:10]}a.txt", 5)
    answer = uploader.send_form(("x", "1"), ("one", "a.txt", b"hello"), ("two", "", b""))
    assert answer.json["filename"] == f"{HELLO[:10]}a.txt"


def test_a_form_with_two_files_is_refused_with_both_names(root):
    for path in ["/repository/file/upload", "/api/v1/files", "OLD/backup", "V1/versions"]:
        for names in [("file", "other"), ("one", "two"), ("file", "file")]:
            collection = root.create().json["collection"]["id"]
            of = {"OLD": f"/repository/collection/{collection}", "V1": f"/api/v1/collections/{collection}"}
            for short, long in of.items():
                path = path.replace(short, long)
            answer = root.send_form((names[0], "a.txt", b"hello"), (names[1], "b.txt", b""), path=path)

            assert 400 == answer.status_int, path
            assert "The form has two files, 'a.txt' and 'b.txt': send one for each request" in answer.text, path


def test_a_form_that_carries_no_file_is_refused(uploader):
    answer = uploader.send_form(("fileName", "a.txt"))
    assert (answer.status_int, answer.json["error_code"]) == (400, 400)

    for body in [b"", b"hello", b"--boundary\r\n", b"--boundary\r\nX\r\n\r\nhello"]:
        headers = {"Content-Type": "multipart/form-data; boundary=boundary"}
        assert uploader.upload(body, headers=headers).status_int == 400, body

    assert uploader.upload(b"hello", headers={"Content-Type": "multipart/form-data"}).status_int == 400


def test_fields_of_a_form_have_priority_over_the_query(uploader):
    answer = uploader.send_form(("fileName", "form.txt"), ("file", "a.txt", b"hello"), query={"fileName": "query.txt"})
    assert answer.json["requested_filename"] == "form.txt"
    answer = uploader.send_form(("public", "1"), ("file", "a.txt", b"hello"), query={"fileName": "query.txt"})
    assert answer.json["requested_filename"] == "query.txt"


def test_all_parameters_can_be_fields_of_a_form(uploader, services):
    fields = [("tags[]", "A"), ("tags[]", "b"), ("public", "yes"), ("password", "p-5ecre7")]
    answer = uploader.send_form(*fields, ("file", "a.txt", b"hello"))
    file = stored(services, answer)

    assert (file.tags, file.public, file.password_hash is None) == (("a", "b"), True, False)


def test_tags_are_stored_in_lower_case(uploader, services):
    for spelling in ["tags", "tags[]"]:
        answer = uploader.upload(**{spelling: ["B.c", "a-1_", "B.C"]})

        assert stored(services, answer).tags == ("a-1_", "b.c"), spelling


def test_invalid_tags_are_refused(uploader):
    for tag in ["", " ", "a b", "a/b", "a" * 65, "a,b", "a\n"]:
        answer = uploader.upload(tags=tag)

        assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.tags"}), tag


def test_a_file_is_not_public_by_default(uploader, services):
    assert stored(services, uploader.upload()).public is False


def test_a_password_may_have_250_characters(uploader, anonymous):
    name = uploader.upload(password="\xfc" * 243 + "-5ecre7").json["filename"]

    assert anonymous.download(name, {"password": "\xfc" * 243 + "-5ecre7"}).status_int == 200


def test_a_longer_password_is_refused(uploader):
    assert set(uploader.upload(password="a" * 251).json["fields"]) == {"form.password"}


def test_a_password_is_stored_with_argon2(uploader, services):
    assert stored(services, uploader.upload(password="secret-5ecre7")).password_hash.startswith("$argon2id$")
