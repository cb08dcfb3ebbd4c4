"""HTTP API, 2.1 and 2.3: permissions of an upload: types, size, tags and passwords."""

from frepo_core.domain.roles import Role
from support.samples import BACKUPS, DOCUMENTS, HTML, IMAGES, OTHERS, PNG, SVG, VIDEOS

TEXT = b"hello"
LISTS = {
    Role.UPLOAD_IMAGES: IMAGES,
    Role.UPLOAD_VIDEOS: VIDEOS,
    Role.UPLOAD_DOCUMENTS: DOCUMENTS,
    Role.UPLOAD_BACKUP: BACKUPS,
}
OUT_OF_A_LIST = [
    (role, mime, content)
    for role, samples in LISTS.items()
    for mime, content in (IMAGES | VIDEOS | DOCUMENTS | BACKUPS | OTHERS).items()
    if mime not in samples and (role, mime) != (Role.UPLOAD_BACKUP, "text/csv")
]


def stored_files(tmp_path):
    return [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


def test_a_role_allows_the_types_on_its_list(holder):
    for role, samples in LISTS.items():
        caller = holder(role)
        answers = {mime: caller.upload(content, "name.bin") for mime, content in samples.items()}
        assert {200, 202} >= {answer.status_int for answer in answers.values()}, role
        assert {mime: mime for mime in samples} == {mime: answer.json["mime"] for mime, answer in answers.items()}


def test_a_role_refuses_types_that_are_not_on_its_list(holder):
    for role in LISTS:
        caller = holder(role)
        answers = {mime: caller.upload(content, "a.bin") for listed, mime, content in OUT_OF_A_LIST if listed == role}

        assert dict.fromkeys(answers, (400, 3000)) == {
            mime: (answer.status_int, answer.json["error_code"]) for mime, answer in answers.items()
        }


def test_upload_all_allows_every_type(uploader):
    for mime, content in OTHERS.items():
        answer = uploader.upload(content)

        assert (answer.status_int, answer.json["mime"]) == (200, mime)


def test_a_program_is_plain_text_and_allowed_for_tokens_for_programs(holder):
    for listed in ["text/plain", "text/x-shellscript", "text/x-python"]:
        caller = holder(Role.UPLOAD_DOCUMENTS, mimes=[listed])

        answer = caller.upload(b"#!/bin/sh\necho hi\n", "hi.sh")

        assert (answer.status_int < 300, answer.json["mime"]) == (True, "text/plain"), listed


def test_the_refusal_of_a_type_names_it(holder):
    answer = holder(Role.UPLOAD_IMAGES).upload(TEXT, "a.png", headers={"Content-Type": "image/png"})

    assert answer.status_int == 400
    assert answer.json == {
        "status": "Mime type not allowed",
        "error_code": 3000,
        "http_code": 400,
        "exit_code": 400,
        "url": None,
        "back": None,
        "id": None,
        "filename": None,
        "requested_filename": None,
        "context": {"mime": "text/plain"},
    }


def test_a_refused_type_stores_nothing(holder, tmp_path):
    holder(Role.UPLOAD_IMAGES).upload(TEXT)

    assert [] == stored_files(tmp_path)


def test_a_token_allows_the_types_on_its_own_list(holder):
    for allowed in [["image/png"], ["image/gif", "image/png"], ["IMAGE/PNG"]]:
        assert holder(Role.UPLOAD_ALL, mimes=allowed).upload(PNG).status_int in {200, 202}, allowed


def test_a_token_accepts_other_names_of_types(holder):
    answer = holder(Role.UPLOAD_BACKUP, mimes=["application/x-gzip"]).upload(BACKUPS["application/gzip"])

    assert answer.status_int == 200


def test_the_tokens_own_list_narrows_its_roles_and_does_not_widen_them(holder):
    for role in [Role.UPLOAD_ALL, Role.ADMINISTRATOR, Role.UPLOAD_DOCUMENTS]:
        assert holder(role, mimes=["image/png"]).upload(TEXT).json["error_code"] == 3000, role
    assert holder(Role.UPLOAD_IMAGES, mimes=["text/plain"]).upload(TEXT).json["error_code"] == 3000


def test_a_token_without_an_upload_role_may_not_upload(holder):
    answer = holder(Role.OVERWRITE, Role.UPLOAD_NO_PASSWORD).upload(TEXT)

    assert (answer.status_int, answer.json["error_code"], answer.json["url"]) == (403, 403, None)


def test_a_file_may_have_the_tokens_maximal_size(holder):
    for size in [1, 10]:
        assert holder(Role.UPLOAD_ALL, max_file_size=10).upload(b"a" * size).status_int == 200, size


def test_a_larger_content_is_refused_however_it_is_sent_and_whoever_sends_it(holder):
    answer = holder(Role.UPLOAD_ALL, max_file_size=10).upload(b"a" * 11)
    assert (answer.status_int, answer.json["status"], answer.json["error_code"]) == (400, "File size is too big", 3001)
    answer = holder(Role.UPLOAD_ALL, max_file_size=10).send_form(("file", "a.txt", b"a" * 11))
    assert answer.json["error_code"] == 3001
    assert holder(Role.UPLOAD_ALL, max_file_size=4).upload(b"aGVsbG8=", encoding="base64").json["error_code"] == 3001
    assert holder(Role.ADMINISTRATOR, max_file_size=10).upload(b"a" * 11).json["error_code"] == 3001


def test_tags_that_the_token_does_not_have_are_refused(holder, uploader):
    assert holder(Role.UPLOAD_ALL, tags=["a", "b"]).upload(tags="B").status_int == 200

    for tags in [["c"], ["a", "c"]]:
        answer = holder(Role.UPLOAD_ALL, tags=["a", "b"]).upload(tags=tags)
        assert (answer.status_int, answer.json["status"].endswith("tag_not_allowed")) == (403, True), tags

    assert uploader.upload(b"other", tags=["any", "thing"]).status_int == 200


def test_a_token_with_tags_may_omit_them(holder, services):
    answer = holder(Role.UPLOAD_ALL, tags=["a", "b"]).upload()

    assert services.files.find(answer.json["filename"]).tags == ()


def test_enforced_tags_replace_the_sent_ones(holder, services):
    for tags in [[], ["other"], ["a"]]:
        answer = holder(Role.UPLOAD_ALL, Role.UPLOAD_TOKEN_TAGS, tags=["a", "b"]).upload(tags=tags)

        assert services.files.find(answer.json["filename"]).tags == ("a", "b"), tags


def test_a_token_that_may_not_set_a_password_is_refused_with_one(holder):
    answer = holder(Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD).upload(password="x-5ecre7")
    assert (answer.status_int, answer.json["status"].endswith("invalid_password")) == (403, True)
    assert holder(Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD).upload(password="").status_int == 200
    assert holder(Role.ADMINISTRATOR, Role.UPLOAD_NO_PASSWORD).upload(password="x-5ecre7").status_int == 403
    assert holder(Role.UPLOAD_ALL, Role.UPLOAD_NO_PASSWORD).upload(b"", password="x-5ecre7").status_int == 403


def test_a_token_for_one_upload_is_used_up_by_it(holder):
    caller = holder(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    assert [caller.upload(content).status_int for content in (b"one", b"two")] == [200, 403]


def test_a_token_for_one_upload_survives_a_failed_one(holder):
    caller = holder(Role.UPLOAD_IMAGES, Role.UPLOAD_ONCE)
    assert [caller.upload(content).status_int for content in (b"", TEXT, PNG, PNG)] == [400, 400, 200, 403]


def test_a_token_for_one_upload_is_used_up_by_known_content(holder, uploader):
    uploader.upload(TEXT)
    caller = holder(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    assert [caller.upload(TEXT).status_int for _ in range(2)] == [202, 403]


def test_a_token_for_one_upload_is_used_up_by_a_version(member, collection):
    caller = member(Role.UPLOAD_VERSIONS, Role.UPLOAD_ONCE)
    assert [caller.push(collection).status_int for _ in range(2)] == [200, 403]


def test_the_type_is_never_taken_from_the_client(uploader):
    for content in [SVG, HTML]:
        answer = uploader.upload(content, "a.png", headers={"Content-Type": "image/png"})

        assert answer.json["mime"] in {"image/svg+xml", "text/html"}, content
